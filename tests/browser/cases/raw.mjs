// A message is shown with the line of the log that it is in, and the line is copied as it is written.

import assert from "node:assert/strict";

const line = (from, members) => `{"host":"gate \\u0031","from":"${from}","message":{"jsonrpc":"2.0","id":1,${members}},"status":200}`;
const lines = [line("client", '"method":"ping"'), line("server", '"result":{}')];

export const logs = { "log.ndjson": `${lines.join("\n")}\n` };

export default async (open) => {
  const tab = await open("#open=m1");
  await tab.evaluate(() => (navigator.clipboard.writeText = async (text) => void (window.copied = text)));
  await tab.waitForSelector("#message .raw");
  assert.deepEqual(await tab.texts("#message .raw pre"), lines);
  assert.deepEqual(await tab.texts("#message .raw summary"), ["Line 1 of the log", "Line 2 of the log"]);
  await tab.evaluate(() => [...document.querySelectorAll("#message button")].find((one) => one.textContent === "line").click());
  await tab.until(() => window.copied);
  assert.equal(await tab.evaluate(() => window.copied), lines[0]);
};
