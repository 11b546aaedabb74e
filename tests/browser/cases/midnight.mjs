// Times of day go on after midnight: the strip and the list have their order, the span is short, and no date is invented.

import assert from "node:assert/strict";

const lines = [
  ["23:59:50.000", "-->", '"id":0,"method":"initialize","params":{"clientInfo":{"name":"c","version":"1"}}'],
  ["23:59:51.000", "<--", '"id":0,"result":{"serverInfo":{"name":"s","version":"1"}}'],
  ["23:59:58.000", "-->", '"id":1,"method":"ping"'],
  ["00:00:08.000", "<--", '"id":1,"result":{}'],
  ["00:00:09.000", "-->", '"id":2,"method":"ping"'],
  ["00:00:10.000", "<--", '"id":2,"result":{}'],
];

export const logs = { "log.io": lines.map(([time, arrow, members]) => `${time} [s] ${arrow} {"jsonrpc":"2.0",${members}}\n`).join("") };

export default async (open) => {
  const tab = await open("");
  assert.match((await tab.texts("[data-part=title]"))[0], /23:59:50–00:00:10, no date \(20 s\)/);
  const rows = await tab.$$eval(".row", (all) =>
    all.map((one) => [
      ...["time", "took"].map((cell) => one.querySelector(`[data-cell=${cell}]`).textContent),
      one.querySelector(".bar").style.left,
    ]),
  );
  assert.deepEqual(rows, [
    ["23:59:50.000", "1.00 s", "0%"],
    ["23:59:58.000", "10 s", "40%"],
    ["00:00:09.000", "1.00 s", "95%"],
  ]);
  await tab.focus("[data-part=strip]");
  await tab.keyboard.press("ArrowLeft");
  await tab.until(() => document.querySelectorAll(".row").length === 0);
  assert.equal((await tab.texts("#span"))[0], "00:00:09–00:00:10 ×");
};
