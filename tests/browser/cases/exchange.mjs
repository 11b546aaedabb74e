// An HTTP exchange that fails ends each request of its batch: each of them failed, and none is open.

import assert from "node:assert/strict";

const text = JSON.stringify([1, 2].map((id) => ({ jsonrpc: "2.0", id, method: `m${id}` })));
const http = { httpVersion: "HTTP/1.1", headers: [], cookies: [], headersSize: -1, bodySize: -1 };

export const logs = {
  "log.har": JSON.stringify({
    log: {
      version: "1.2",
      creator: { name: "case", version: "1" },
      entries: [
        {
          startedDateTime: "2026-01-05T10:00:00.000Z",
          time: 10,
          request: { ...http, method: "POST", url: "http://server/mcp", queryString: [], postData: { mimeType: "application/json", text } },
          response: {
            ...http,
            status: 502,
            statusText: "Bad Gateway",
            redirectURL: "",
            content: { size: 3, mimeType: "text/html", text: "bad" },
          },
          cache: {},
          timings: { send: 0, wait: 10, receive: 0 },
        },
      ],
    },
  }),
};

export default async (open) => {
  const tab = await open("#outcome=failed");
  assert.match((await tab.texts("#verdict"))[0], /✗ 2 of 2 calls failed \(100 %\)/);
  const rows = await tab.$$eval(".row", (all) =>
    all.map((one) => ["call", "outcome"].map((cell) => one.querySelector(`[data-cell=${cell}]`).textContent)),
  );
  assert.equal(rows.length, 2);
  assert.deepEqual(rows[0][1], rows[1][1], "both have the failure of the exchange");
  assert.equal((await tab.$$(".bar.open")).length, 0);
};
