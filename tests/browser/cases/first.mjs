// The list is on the first screen, with 20 rows; without a script, the failures are.

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
  for (const [width, height, most] of [
    [390, 844, 580],
    [1024, 768, 360],
    [1440, 900, 324],
  ]) {
    const tab = await open("", { width, height });
    const top = await tab.$eval("[data-part=list] .row", (one) => one.getBoundingClientRect().top);
    assert.ok(top <= most, `at ${width}, the first row is at ${top}`);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `${width}`);
  }
  const tab = await open("", { width: 1440 });
  assert.ok(await tab.$eval("[data-part=verdict]", (one) => one.offsetHeight <= 100));
  const seen = await tab.$$eval(".row", (all) => all.filter((one) => one.getBoundingClientRect().bottom <= innerHeight).length);
  assert.ok(seen >= 20, `${seen} rows`);
  assert.deepEqual(await tab.texts("#side h2"), ["Why calls failed", "Never answered", "Slowest"]);
  // The failures are in the file, for those without scripts, who get no controls.
  const still = await open("", { scripts: false });
  const nodes = [];
  const walk = (node) => (nodes.push(node), node.children?.forEach(walk));
  walk(await still.tree());
  const controls = ["button", "combobox", "searchbox", "tab", "listbox", "textbox", "status", "link"];
  assert.deepEqual(
    nodes.filter((one) => controls.includes(one.role)),
    [],
  );
  // A browser that is too old to read the index has the failures, too, and no controls that do nothing.
  const old = await open("", { lacks: "DecompressionStream" });
  await old.until(() => document.getElementById("remark").textContent.startsWith("This browser cannot show the list: it needs "));
  assert.deepEqual(await old.$$eval("#listed, #filter, #split", (all) => all.map((one) => [one.id, one.checkVisibility()])), [
    ["listed", true],
    ["filter", false],
    ["split", false],
  ]);
  const failures = nodes.filter((one) => one.role === "row").map((one) => one.children.map((cell) => cell.name).join(" "));
  assert.equal(failures.length, 38);
  assert.equal(failures[1], "10:00:14 m15 tool7 -1 error 7");
};
