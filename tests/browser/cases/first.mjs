// The list is on the first screen; the overview has what is not empty, three items of each, and a way to all.

import assert from "node:assert/strict";

const line = (second, members) =>
  `{"time":"2026-01-05T10:${String(Math.floor(second / 60)).padStart(2, "0")}:${String(second % 60).padStart(2, "0")}Z","message":{"jsonrpc":"2.0",${members}}}\n`;

export const logs = {
  "log.ndjson": Array.from({ length: 200 }, (_, id) => {
    const end = id % 7 ? '"result":{}' : `"error":{"code":-1,"message":"error ${id}"}`;
    const call = line(2 * id, `"id":${id},"method":"tools/call","params":{"name":"tool${id % 12}"}`);
    return id % 20 === 19 ? call : call + line(2 * id + 1, `"id":${id},${end}`);
  }).join(""),
};

export default async (open) => {
  for (const [width, height] of [
    [400, 800],
    [1280, 900],
    [1920, 1080],
  ]) {
    const tab = await open("", { width, height });
    const top = await tab.$eval(".list", (one) => one.getBoundingClientRect().top);
    assert.ok(top < height - 100, `at ${width}, the list begins at ${top}`);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `${width}`);
  }
  const tab = await open();
  const lists = await tab.$$eval("#lists details", (all) =>
    all.map((one) => [one.querySelector("h3").textContent, one.querySelectorAll("li").length]),
  );
  assert.deepEqual(
    lists.map(([title]) => title),
    ["Failures (28)", "No answer (9)", "No answer, log ended (1)", "Slowest (190)", "Tools (12)"],
  );
  const items = (title) => (title.includes("(1)") ? 1 : 4);
  assert.ok(lists.every(([title, count]) => count === items(title)));
  await tab.evaluate(() => [...document.querySelectorAll("#lists button")].find((one) => one.textContent === "all 12").click());
  assert.equal(await tab.$eval("#lists details:last-child", (one) => one.querySelectorAll("li").length), 12);
  await tab.evaluate(() => [...document.querySelectorAll("#lists a")].find((one) => one.textContent === "all 28").click());
  await tab.until(() => document.getElementById("filter-count").textContent.startsWith("28 of "));
};
