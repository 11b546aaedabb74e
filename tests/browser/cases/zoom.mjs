// The waterfall has a ruler; a drag on it zooms, in the address; idle hours are folded.

import assert from "node:assert/strict";

const line = (time, members) => `{"time":"2026-01-05T${time}Z","message":{"jsonrpc":"2.0",${members}}}\n`;
const calls = (hour, first) =>
  Array.from(
    { length: 30 },
    (_, n) =>
      line(`${hour}:00:${String(n).padStart(2, "0")}.000`, `"id":${first + n},"method":"m"`) +
      line(
        `${hour}:00:${String(n).padStart(2, "0")}.900`,
        `"id":${first + n},${n === 3 ? '"error":{"code":1,"message":"no"}' : '"result":0'}`,
      ),
  ).join("");

export const logs = { "log.ndjson": calls("08", 0) + calls("17", 100) };

export default async (open) => {
  const tab = await open("", { width: 1600 });
  const bar = (place) =>
    tab.$$eval(".row .bar", (all, at) => [Number.parseFloat(all[at].style.left), Number.parseFloat(all[at].style.width)], place);
  // Nine idle hours take little room: the first second has more than a share of them.
  assert.ok((await bar(0))[1] > 1, `${await bar(0)}`);
  assert.equal((await tab.$$(".fold")).length, 1);
  assert.equal(await tab.$eval(".fold", (one) => one.title), "539 min 30 s without messages");
  assert.ok((await tab.$$(".tick")).length >= 3);
  assert.equal(await tab.$eval(".bar.failed", (one) => getComputedStyle(one).backgroundImage), "none");
  // A drag over the beginning of the ruler.
  const ruler = await (await tab.$(".ruler")).boundingBox();
  await tab.mouse.move(ruler.x + 1, ruler.y + 10);
  await tab.mouse.down();
  await tab.mouse.move(ruler.x + ruler.width / 5, ruler.y + 10, { steps: 3 });
  await tab.mouse.up();
  await tab.until(() => location.hash.includes("to="));
  const { from, to } = await tab.hash();
  assert.ok(Number(from) < 1 && Number(to) > 9 && Number(to) < 16, `${from} to ${to}`);
  const count = Number((await tab.texts("#filter-count"))[0].split(" ")[0]);
  assert.ok(count >= 10 && count <= 16, `${count} rows`);
  assert.equal((await tab.$$(".fold")).length, 0);
  // Without a pointer: in, out, and all.
  const press = (label) => tab.$eval(`.zoom [aria-label="${label}"]`, (one) => one.click());
  await press("Zoom in");
  await tab.until((old) => new URLSearchParams(location.hash.slice(1)).get("to") !== old, to);
  const narrow = await tab.hash();
  assert.ok(narrow.to - narrow.from < (to - from) * 0.6);
  await press("Zoom out");
  await tab.until((old) => new URLSearchParams(location.hash.slice(1)).get("to") !== old, narrow.to);
  await press("Whole log");
  await tab.until(() => !location.hash.includes("from="));
  assert.equal((await tab.texts("#filter-count"))[0], "60 of 120 rows");
};
