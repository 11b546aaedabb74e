// Filters compare in words, and a minus excludes; tokens compare the whole of what they name; cancelled requests leave "in flight".

import assert from "node:assert/strict";

const line = (second, from, members) => `{"time":"2026-01-05T10:00:0${second}Z","from":"${from}","message":{"jsonrpc":"2.0",${members}}}\n`;

export const logs = {
  "log.ndjson": [
    line(0, "client", '"id":1,"method":"tools/call","params":{"name":"create_pr"}'),
    line(1, "server", '"id":1,"result":{"isError":true}'),
    line(2, "client", '"id":"2","method":"tools/call","params":{"name":"create_pr_comment"}'),
    line(3, "client", '"method":"notifications/cancelled","params":{"requestId":"2"}'),
    line(5, "client", '"id":3,"method":"ping"'),
    line(6, "server", '"id":3,"result":{}'),
  ].join(""),
};

export default async (open) => {
  const tab = await open("#view=sequence");
  const names = async (hash) => {
    await tab.evaluate((to) => (location.hash = to), `${hash}&view=sequence`);
    await tab.until(() => document.querySelector(".sequence") && !document.getElementById("filter-count").textContent.includes("…"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    return (await tab.$$eval(".row", (all) => all.map((one) => one.dataset.message))).join(" ");
  };
  const q = (text) => names(`q=${encodeURIComponent(text)}`);
  assert.equal(await q("sender:server"), "m2 m6");
  assert.equal(await q("tool:create_pr"), "m1 m2");
  assert.equal(await q("tool:create_*"), "m1 m2 m3");
  assert.equal(await q('tool:"create_*"'), "");
  assert.equal(await q("method:ping"), "m5 m6");
  assert.equal(await q("id:2"), "m3");
  assert.equal(await q("status:failed sender:server"), "m2");
  assert.equal(await q("m5"), "m5");
  assert.equal(await q("status:cancelled"), "m3");
  assert.equal(await q("-method:tools/call"), "m4 m5 m6");
  assert.equal(await q("-create"), "m4 m5 m6");
  assert.equal(await q("took:>900ms took:<1.5s"), "m1 m2 m5 m6");
  assert.equal(await q("took:<=1s"), "m1 m2 m5 m6");
  assert.equal(await q("took:<1s"), "");
  assert.deepEqual(await tab.texts("#remark"), ["Nothing matches."]);
  await q("took:long");
  assert.deepEqual(await tab.texts("#remark"), ["long is not a time that a call took; one is took:>1s"]);
  assert.equal(await names("outcome=failed"), "m1 m2");
  await q("colour:red");
  assert.match((await tab.texts("#remark"))[0], /^colour: is not a word of the search; these are: method: tool: /);
  // One request at a time: the cancelled one has ended when the next one begins, and its bar ends there.
  await tab.evaluate(() => (location.hash = "view=plots"));
  await tab.until(() => document.querySelectorAll("figure").length === 3);
  const most = await tab.$$eval("td", (all) => all.find((one) => one.textContent === "most at once").nextSibling.textContent);
  assert.equal(most, "1");
};
