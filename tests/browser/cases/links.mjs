// Links of the side column lead to what they count; addresses lead to their row, or say that there is none.

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
  const tab = await open();
  const causes = await tab.texts("[data-part=causes] li");
  assert.deepEqual(causes, ['10 limit "0"'], "failures of one text, but for quoted words");
  await tab.evaluate(() => document.querySelector("[data-part=causes] a").click());
  await tab.until(() => document.querySelector("[data-part=count]").textContent === "10 of 300 calls");
  assert.deepEqual(await tab.hash(), { q: 'cause:"limit …"', outcome: "failed" });
  await tab.evaluate(() => (location.hash = "open=m77777"));
  await tab.until(() => document.getElementById("remark").textContent === "There is no message m77777 in this page.");
  // Typing does not fill the history: Back leaves the filter as a whole.
  const before = await tab.evaluate(() => history.length);
  for (const text of ["l", "li", "lim"]) {
    await tab.type("#filter-q", text);
    await tab.until((wanted) => location.hash.includes(`q=${wanted}`) && !location.hash.includes(`q=${wanted}i`), text);
  }
  assert.equal(await tab.evaluate(() => history.length), before);
  // An address with a message selects its row.
  const deep = await open("#open=m400");
  await deep.until(() => document.querySelector('.row[aria-selected="true"]')?.dataset.message === "m399");
  assert.ok(
    await deep.evaluate(() => {
      const [row, list] = [".row[aria-selected=true]", ".list"].map((one) => document.querySelector(one).getBoundingClientRect());
      return Math.abs((row.top + row.bottom - list.top - list.bottom) / 2) < 30;
    }),
  );
  // On a small screen, where the message lies over the list, the row is above it.
  const small = await open("#open=m400", { width: 390, height: 844 });
  await small.until(() => {
    const [row, panel] = [".row[aria-selected=true]", "#message"].map((one) => document.querySelector(one)?.getBoundingClientRect());
    return row && row.top > 100 && row.bottom < panel.top;
  });
};
