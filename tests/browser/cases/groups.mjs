// The list groups calls by connection or by tool; the head of a group has its numbers, and folds it.

import assert from "node:assert/strict";

const line = (second, session, members) =>
  `{"time":"2026-01-05T10:00:${String(second).padStart(2, "0")}Z","session":"${session}","message":{"jsonrpc":"2.0",${members}}}\n`;
const call = (second, session, id, tool, end) =>
  line(second, session, `"id":${id},"method":"tools/call","params":{"name":"${tool}"}`) +
  (end ? line(second + 1, session, `"id":${id},${end}`) : "");

export const logs = {
  "log.ndjson":
    call(0, "jira", 1, "find", '"result":{}') +
    call(2, "jira", 2, "add", '"error":{"code":-1,"message":"no"}') +
    call(4, "web", 1, "find", '"result":{}') +
    call(6, "jira", 3, "find", '"result":{}') +
    call(8, "web", 2, "fetch", ""),
};

export default async (open) => {
  const tab = await open();
  const rows = () => tab.$$eval(".row", (all) => all.map((one) => one.dataset.message ?? one.textContent));
  const shown = (count) => tab.until((wanted) => document.querySelectorAll(".row").length === wanted, count);
  assert.deepEqual(await rows(), ["m1", "m3", "m5", "m7", "m9"]);
  await tab.click("[data-group=connection]");
  await shown(7);
  const jira = "▾ jira 3 calls · 1 failed · p95 1.00 s";
  const web = "▾ web 2 calls · 1 no answer · p95 1.00 s";
  assert.deepEqual(await rows(), [jira, "m1", "m3", "m7", web, "m5", "m9"]);
  assert.deepEqual(await tab.hash(), { group: "connection" });
  assert.equal(await tab.evaluate(() => document.activeElement.dataset.group), "connection", "the button keeps the focus");
  // A click folds a group, and a key unfolds it.
  await tab.click(".row");
  await shown(4);
  assert.deepEqual(await rows(), [`${jira.replace("▾", "▸")} folded`, web, "m5", "m9"]);
  await tab.focus(".list");
  await tab.keyboard.press("Enter");
  await shown(7);
  // The messages of a group open, and keys step over the heads.
  await tab.evaluate(() => document.querySelector("[data-message=m7]").click());
  await tab.until(() => document.getElementById("message-title")?.textContent.startsWith("m7 "));
  await tab.keyboard.press("j");
  await tab.keyboard.press("j");
  await tab.until(() => document.getElementById("message-title").textContent.startsWith("m5 "));
  // By tool, of the calls that failed alone, and back.
  await tab.evaluate(() => (location.hash = "group=tool"));
  await shown(8);
  assert.deepEqual((await rows()).slice(0, 4), ["▾ find 3 calls · p95 1.00 s", "m1", "m5", "m7"]);
  await tab.evaluate(() => (location.hash = "group=tool&outcome=failed"));
  await shown(2);
  await tab.click("[data-group=tool]");
  await shown(1);
};
