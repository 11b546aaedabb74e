// The strip chooses a span by a drag, by keys and by the link of the verdict; it filters the list, the side and the numbers.

import assert from "node:assert/strict";

const time = (seconds) => new Date(Date.UTC(2026, 2, 2, 14) + seconds * 1000).toISOString();
const line = (seconds, session, members) => `{"time":"${time(seconds)}","session":"${session}","message":{"jsonrpc":"2.0",${members}}}\n`;
const begin = (seconds, session, server) =>
  line(seconds, session, '"id":"i","method":"initialize","params":{"clientInfo":{"name":"agent","version":"1"}}') +
  line(seconds + 0.1, session, `"id":"i","result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"${server}","version":"2"}}`);

/** Twenty minutes of a call a second; from the eighth to the twelfth, a quarter fails, and all are slow. */
const calls = Array.from({ length: 1199 }, (_, at) => {
  const [id, within] = [at + 1, at + 1 >= 480 && at + 1 < 720];
  const session = id % 2 ? "two" : "one";
  const call = line(id, session, `"id":${id},"method":"tools/call","params":{"name":"tool${id % 3}"}`);
  const end = within && id % 4 === 0 ? `"error":{"code":-1,"message":"pool ${id}"}` : '"result":{}';
  if (id === 897) return call + begin(898, "two", "search");
  return call + line(id + (within ? 1.5 : 0.1), session, `"id":${id},${end}`);
});

export const logs = { "log.ndjson": begin(0, "one", "jira") + begin(0.5, "two", "search") + calls.join("") };

export default async (open) => {
  const tab = await open("", { width: 1440 });
  const count = () => tab.$eval("[data-part=count]", (one) => one.textContent);
  const counts = async (text) => {
    await tab.until((wanted) => document.querySelector("[data-part=count]").textContent === wanted, text);
  };
  assert.equal(await count(), "1,202 calls");
  assert.match(
    (await tab.texts("[data-part=title]"))[0],
    /^log\.ndjson 2026-03-02 14:00–14:19 UTC .* 1,202 calls .* 2 connections · agent 1 → jira 2, search 2/,
  );
  assert.match(
    (await tab.texts("[data-part=verdict]"))[0],
    /60 of 1,202 calls failed \(5 %\), 60 of them 14:08–14:12 .*p95 1\.50 s.*1 call was lost as search restarted at 14:14:58/,
  );
  assert.ok((await tab.$$("[data-part=strip] .failed")).length > 15);
  assert.match((await tab.texts("[data-part=strip]"))[0], /⟲ search.*14:0/);
  assert.deepEqual(await tab.texts("[data-part=connections] li"), [
    "search 602 calls · 1 no answer · p95 1.50 s · 1 restart",
    "jira 600 calls · 60 failed · p95 1.50 s",
  ]);
  // The link of the verdict.
  await tab.evaluate(() => document.querySelector("[data-part=verdict] a").click());
  await counts("240 of 1,202 calls");
  assert.equal(await tab.$eval("#span", (one) => one.textContent), "14:08:00–14:12:00 ×");
  assert.deepEqual(await tab.texts("#chips button"), ["Failed 60", "No answer 0", "Cancelled 0", "Slow 240"]);
  assert.match((await tab.texts("[data-part=causes] li"))[0], /^60 pool 480$/);
  const first = await tab.$eval(".row", (one) =>
    ["time", "connection", "call", "outcome", "took"].map((cell) => one.querySelector(`[data-cell=${cell}]`).textContent),
  );
  assert.deepEqual(first, ["14:08:00.000", "jira", "tool0", "✗ pool 480", "1.50 s"]);
  await tab.evaluate(() => [...document.querySelectorAll("#chips button")][0].click());
  await counts("60 of 1,202 calls");
  for (const view of ["sequence", "plots", "waterfall"]) {
    await tab.click(`#tab-${view}`);
    await tab.until((name) => document.getElementById(`tab-${name}`).ariaSelected === "true", view);
    assert.equal(await count(), "60 of 1,202 calls", view);
  }
  await tab.click("#span");
  await tab.until(() => !location.hash.includes("from="));
  await tab.evaluate(() => [...document.querySelectorAll("#chips button")][0].click());
  await counts("1,202 calls");
  // A drag over the first quarter, and back by a double click.
  const box = await (await tab.$("[data-part=strip]")).boundingBox();
  await tab.mouse.move(box.x, box.y + 20);
  await tab.mouse.down();
  await tab.mouse.move(box.x + box.width / 4, box.y + 20, { steps: 3 });
  await tab.mouse.up();
  await tab.until(() => document.querySelector("[data-part=count]").textContent.includes(" of "));
  const some = Number((await count()).split(" ")[0]);
  assert.ok(some > 290 && some < 310, `${some}`);
  await tab.mouse.click(box.x + 300, box.y + 20, { count: 2 });
  await counts("1,202 calls");
  // By keyboard.
  await tab.focus("[data-part=strip]");
  await tab.keyboard.press("ArrowRight");
  await tab.until(() => location.hash.includes("to="));
  const { from, to } = await tab.hash();
  await tab.keyboard.press("ArrowRight");
  await tab.until((old) => new URLSearchParams(location.hash.slice(1)).get("to") !== old, to);
  assert.ok(Math.abs(Number((await tab.hash()).from) - Number(to)) < 1, `${from}`);
  await tab.keyboard.press("Escape");
  await counts("1,202 calls");
  // Sorted by the time they took.
  await tab.click("[data-sort=took]");
  await tab.until(() => document.querySelector(".row [data-cell=took]").textContent === "1.50 s");
};
