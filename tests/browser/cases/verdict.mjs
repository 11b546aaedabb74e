// The verdict says the worst first, and nothing that is not so.

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
  assert.deepEqual(await tab.texts("#verdict .said"), [
    "✗ 1 failure in 3 requests, the first: m2 tools/call a: isError no station. ",
    "! m6 tools/call c has no answer when the log ends. ",
    "! 1 unsolicited answer, the first: m5 response. ",
    "· m3 tools/call b was cancelled. ",
  ]);
  const colours = await tab.$$eval("#verdict .mark", (all) => all.map((one) => getComputedStyle(one).color));
  assert.equal(new Set(colours).size, 3, "a colour for each severity");
};
