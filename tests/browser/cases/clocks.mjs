// Each log has its own zero, and what has no time has no bar. On paper are the overview, the open message and rows.

import assert from "node:assert/strict";

const line = (time, members) => `{${time ? `"time":"${time}",` : ""}"message":{"jsonrpc":"2.0",${members}}}\n`;
const pair = (id, from, to) => line(from, `"id":${id},"method":"m"`) + line(to, `"id":${id},"result":0`);
const log = (day) => pair(1, `${day}T10:00:00Z`, `${day}T10:00:01Z`) + pair(2, "", "") + pair(3, `${day}T10:00:09Z`, `${day}T10:00:10Z`);

export const logs = {
  "one.ndjson": log("2026-01-05"),
  "two.ndjson": log("2026-03-09"),
  "long.ndjson": Array.from({ length: 300 }, (_, id) => pair(id, "2026-01-05T10:00:00Z", "2026-01-05T10:00:10Z")).join(""),
};

export default async (open) => {
  const tab = await open("#open=1:m1");
  const bars = await tab.$$eval(".waterfall .row", (all) =>
    all
      .slice(0, 6)
      .map((row) => [
        row.firstChild.textContent,
        row.querySelector(".bar")?.style.left ?? "",
        row.querySelector(".bar")?.style.width ?? "",
      ]),
  );
  assert.deepEqual(bars, [
    ["1:m1", "0%", "10%"],
    ["1:m3", "", ""],
    ["1:m5", "90%", "10%"],
    ["2:m1", "0%", "10%"],
    ["2:m3", "", ""],
    ["2:m5", "90%", "10%"],
  ]);
  const duration = await tab.$$eval("#totals > div", (all) => all.find((one) => one.textContent.startsWith("duration")).textContent);
  assert.equal(duration, "duration10.00 s");
  await tab.waitForSelector("#message .tree");
  await tab.pdf();
  await tab.emulateMediaType("print");
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const rows = await tab.$$eval(".row", (all) => all.map((one) => one.getBoundingClientRect().height));
  assert.equal(rows.length, 200);
  assert.ok(rows.every((height) => height > 10));
  assert.ok(await tab.$eval("#message .tree", (one) => one.getBoundingClientRect().height > 20));
  assert.ok(await tab.$eval("#totals", (one) => one.getBoundingClientRect().height > 20));
  await tab.emulateMediaType(null);
  await tab.evaluate(() => dispatchEvent(new Event("afterprint")));
  await tab.until(() => document.querySelectorAll(".row").length < 100);
};
