// Calls in flight end with their answer, their cancellation or a restart; those that nothing ended are a band of their own.

import assert from "node:assert/strict";

const line = (second, members) =>
  `{"time":"2026-01-05T10:00:${String(second).padStart(2, "0")}Z","message":{"jsonrpc":"2.0",${members}}}\n`;
const hello = (second) =>
  line(second, '"id":0,"method":"initialize","params":{}') + line(second, '"id":0,"result":{"serverInfo":{"name":"s","version":"1"}}');
const ask = (second, id, tool) => line(second, `"id":${id},"method":"tools/call","params":{"name":"${tool}"}`);

export const logs = {
  "log.ndjson":
    hello(0) +
    ask(1, 1, "cancelled") +
    line(2, '"method":"notifications/cancelled","params":{"requestId":1}') +
    ask(3, 2, "lost") +
    hello(5) +
    ask(10, 3, "dead") +
    ask(20, 4, "ok") +
    line(30, '"id":4,"result":{}') +
    line(40, '"method":"notifications/message"'),
};

export default async (open) => {
  const tab = await open("#view=plots");
  const numbers = async () => {
    const cells = await tab.$$eval("figure:nth-of-type(2) tbody tr", (all) =>
      all.map((one) => [...one.cells].map((cell) => cell.textContent)),
    );
    return Object.fromEntries(cells);
  };
  const drawn = () => tab.until(() => document.querySelectorAll("figure").length === 3);
  await drawn();
  assert.deepEqual(await numbers(), { "most at once": "1", at: "10:00:01", failures: "0", "never answered": "1" });
  assert.match((await tab.texts("figure:nth-of-type(2) p"))[0], /^The line counts the calls until .* The band below it counts those that/);
  const texts = () => tab.texts("figure:nth-of-type(2) svg text");
  assert.deepEqual(await texts(), ["2", "0", "10:00:00", "10:00:40"], "one in flight above one dead, over the whole log");
  assert.ok(await tab.$("svg .dead"));
  // Tools have rows of their own.
  assert.deepEqual((await tab.texts("figure:nth-of-type(1) tbody td:first-child")).sort(), ["initialize", "ok"]);
  // The plot has the chosen span, and the dead alone are calls, too.
  const at = (second) => Date.UTC(2026, 0, 5, 10, 0, second) / 1000;
  await tab.evaluate((hash) => (location.hash = hash), `view=plots&from=${at(8)}&to=${at(18)}`);
  await tab.until(() => document.querySelector("figure:nth-of-type(2) svg")?.textContent.includes("10:00:18"));
  assert.deepEqual(await texts(), ["1", "0", "10:00:08", "10:00:18"]);
  assert.deepEqual(await numbers(), { "most at once": "0", failures: "0", "never answered": "1" });
};
