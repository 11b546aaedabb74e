// Words are looked for in all texts, together; quotes make them exact.

import assert from "node:assert/strict";

const line = (members) => `{"jsonrpc":"2.0",${members}}\n`;

export const logs = {
  "log.ndjson": Array.from({ length: 3000 }, (_, id) => {
    const text = id === 2500 ? 'Deep Water, \\u00fcber\\nall \\"quoted\\"' : `plain ${id}`;
    return line(`"id":${id},"method":"m","params":{"city":"Uppsala ${id}"}`) + line(`"id":${id},"result":{"deep":{"text":"${text}"}}`);
  }).join(""),
};

export default async (open) => {
  const tab = await open();
  for (const [query, count] of [
    ["uppsala", 3000],
    ["deep water", 1],
    // One word in the request, and one in the answer.
    ["WATER uppsala", 1],
    ['"Deep Water"', 1],
    ['"deep Water"', 0],
    ["water plain", 0],
    ["ÜBER", 1],
    ['"\\"quoted\\""', 1],
    ["water status:ok method:m", 1],
    ["water status:failed", 0],
  ]) {
    await tab.type("#filter-q", query);
    const wanted = count === 3000 ? "3,000 calls" : `${count} of 3,000 calls`;
    await tab
      .until(
        (text, query) =>
          new URLSearchParams(location.hash.slice(1)).get("q") === query && document.getElementById("filter-count").textContent === text,
        wanted,
        query,
      )
      .catch(async () => assert.equal((await tab.texts("#filter-count"))[0], wanted, query));
  }
};
