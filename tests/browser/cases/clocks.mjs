// Times have their date where there are several days, and the zone of the log; what has no time has no bar. On paper are title,
// verdict, strip, each failure with its time, and the open message.

import assert from "node:assert/strict";

const line = (time, members) => `{${time ? `"time":"${time}",` : ""}"message":{"jsonrpc":"2.0",${members}}}\n`;
const pair = (id, from, to) => line(from, `"id":${id},"method":"m"`) + line(to, `"id":${id},"result":0`);
const fails = (id, from, to) => line(from, `"id":${id},"method":"n"`) + line(to, `"id":${id},"error":{"code":-1,"message":"no ${id}"}`);

export const logs = {
  "log.ndjson":
    pair(1, "2026-01-05T10:00:00+02:00", "2026-01-05T22:00:00+02:00") +
    pair(2, "", "") +
    fails(3, "2026-01-06T09:00:00+02:00", "2026-01-06T10:00:00+02:00"),
  "many.ndjson": Array.from({ length: 300 }, (_, id) => fails(id, "2026-01-05T12:00:00+02:00", "2026-01-05T12:00:01+02:00")).join(""),
};

export default async (open) => {
  const tab = await open("#open=1:m1");
  const rows = await tab.$$eval("[data-message]", (all) =>
    all.slice(0, 3).map((row) => {
      const bar = row.querySelector(".bar")?.style;
      return [row.dataset.message, row.querySelector("[data-cell=time]").textContent, bar?.left ?? "", bar?.width ?? ""];
    }),
  );
  assert.deepEqual(rows, [
    ["1:m1", "01-05 10:00:00", "0%", "50%"],
    ["1:m3", "", "", ""],
    ["1:m5", "01-06 09:00:00", "95.8333%", "4.16667%"],
  ]);
  assert.equal(await tab.$eval("[data-sort=time]", (one) => one.textContent), "time +02:00 ▾");
  await tab.waitForSelector("#message .tree");
  await tab.emulateMediaType("print");
  const isShown = (selector) => tab.$eval(selector, (one) => one.checkVisibility());
  for (const selector of ["[data-part=title]", "[data-part=verdict]", "[data-part=strip]", "#listed", "#message .tree"])
    assert.ok(await isShown(selector), selector);
  for (const selector of ["[data-part=filters]", "[data-part=list]", "#side", "#message button"])
    assert.ok(!(await isShown(selector)), selector);
  assert.match(await tab.$eval("#listed", (one) => one.textContent), /200 of 301/);
  const listed = await tab.texts("#listed tr");
  assert.match(listed[0], /01-05 12:00:00\s*2:m1\s*n\s*-1 no 0/);
  await tab.pdf();
};
