// Links of the overview lead to what they count, whatever was filtered before; addresses lead to their row.

import assert from "node:assert/strict";

const call = (id, tool, end) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${tool}"}}\n{"jsonrpc":"2.0","id":${id},${end}}\n`;
const tools = ["create_pr", "create_pr_comment"];

export const logs = {
  "log.ndjson": Array.from({ length: 300 }, (_, id) =>
    call(id, tools[id % 2], id % 30 ? '"result":{}' : `"error":{"code":-1,"message":"limit \\"${id % 20}\\""}`),
  ).join(""),
};

export default async (open) => {
  const tab = await open("#q=nothing-has-this&outcome=ok");
  const link = (text) =>
    tab.evaluateHandle((wanted) => [...document.querySelectorAll("#lists a")].find((one) => one.textContent === wanted), text);
  assert.equal((await tab.texts("#filter-count"))[0].split(" ")[0], "0");
  await tab.evaluate(() => scrollTo(0, 0));
  await (await link("create_pr")).click();
  await tab.until(() => document.getElementById("filter-count").textContent.startsWith("150 "));
  assert.deepEqual(await tab.hash(), { q: "tool:create_pr" });
  assert.ok(await tab.$eval("#messages", (one) => Math.abs(one.getBoundingClientRect().top) < 450), "the list is in view");
  // Failures of the same tool and message are one item, and lead to these failures.
  const failures = await tab.texts("#lists details:first-child li");
  assert.equal(failures.length, 2);
  assert.equal(failures[0], '5 × tools/call create_pr -1 limit "0"');
  await (await link("5 × tools/call create_pr")).click();
  await tab.until(() => document.getElementById("filter-count").textContent === "5 of 600 rows");
  // Typing does not fill the history: Back leaves the filter as a whole.
  const before = await tab.evaluate(() => history.length);
  for (const text of ["l", "li", "lim"]) {
    await tab.type("#filter-q", text);
    await tab.until((wanted) => location.hash.includes(`q=${wanted}`) && !location.hash.includes(`q=${wanted}i`), text);
  }
  assert.equal(await tab.evaluate(() => history.length), before);
  // An address with a message selects its row.
  const deep = await open("#open=m400");
  await deep.until(() => document.querySelector('.row[aria-selected="true"]')?.textContent.startsWith("m399"));
  assert.ok(
    await deep.evaluate(() => {
      const [row, list] = [".row[aria-selected=true]", ".list"].map((one) => document.querySelector(one).getBoundingClientRect());
      return row.top >= list.top && row.bottom <= list.bottom;
    }),
  );
};
