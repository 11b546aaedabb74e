// The verdict begins with the worst, and has no false sentence.

import assert from "node:assert/strict";

const line = (members) => `{"jsonrpc":"2.0",${members}}\n`;

export const logs = {
  "log.ndjson": [
    line('"id":1,"method":"tools/call","params":{"name":"a"}'),
    line('"id":1,"result":{"isError":true,"content":[{"type":"text","text":"no station"}]}'),
    line('"id":2,"method":"tools/call","params":{"name":"b"}'),
    line('"method":"notifications/cancelled","params":{"requestId":2}'),
    line('"id":8,"result":{}'),
    line('"id":3,"method":"tools/call","params":{"name":"c"}'),
  ].join(""),
};

export default async (open) => {
  const tab = await open();
  assert.deepEqual(await tab.texts("[data-part=verdict] p"), [
    "✗ 1 of 3 calls failed (33.3 %)",
    "✗ 1 call was open as the log ended",
    "· 1 call was cancelled",
    "! 1 message answers no request in the log, first m5",
  ]);
  const colours = await tab.$$eval(".mark", (all) => all.map((one) => getComputedStyle(one).color));
  assert.equal(new Set(colours).size, 3, "a colour for each severity");
  await tab.evaluate(() => document.querySelector("[data-part=verdict] a").click());
  await tab.until(() => document.getElementById("message-title")?.textContent.startsWith("m5 "));
};
