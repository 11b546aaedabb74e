// A page of 20,000 calls is small, and neither a search nor a view of all of them keeps the browser from drawing for long.

import assert from "node:assert/strict";

const WORDS = "query issue branch commit page search result timeout user project table row value status merge deploy".split(" ");
let seed = 1;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
const text = (count) => Array.from({ length: count }, () => WORDS[random(WORDS.length)]).join(" ");
const line = (millis, session, members) =>
  `{"time":"${new Date(Date.UTC(2026, 0, 5) + millis).toISOString()}","session":"${session}","message":{"jsonrpc":"2.0",${members}}}\n`;

export const logs = {
  "log.ndjson": Array.from({ length: 20000 }, (_, id) => {
    const [at, session] = [id * 300 + random(200), `s${random(4)}`];
    const end = random(50)
      ? `"result":{"content":[{"type":"text","text":"${text(5 + random(30))}"}]}`
      : '"error":{"code":-1,"message":"pool"}';
    const call = `"id":${id},"method":"tools/call","params":{"name":"tool${random(12)}","arguments":{"q":"${text(4)}"}}`;
    return line(at, session, call) + line(at + 20 + random(80), session, `"id":${id},${end}`);
  }).join(""),
};

export const args = [];

/** The longest time between two frames while something is done, in milliseconds. */
const longest = (tab, act, until, value) =>
  tab.evaluate(
    async (act, until, value) => {
      const frame = () => new Promise(requestAnimationFrame);
      const [run, isDone] = [act, until].map((text) => new Function(`return ${text}`)());
      await frame();
      let [last, most, after] = [performance.now(), 0, 0];
      run(value);
      // The lists beside the view come later.
      while (after < 20) {
        await frame();
        most = Math.max(most, performance.now() - last);
        last = performance.now();
        if (isDone(value)) after++;
      }
      return most;
    },
    String(act),
    String(until),
    value,
  );

export default async (open) => {
  const tab = await open("", { width: 1440 });
  const size = await tab.evaluate(() => document.documentElement.outerHTML.length);
  assert.ok(size < 1.6e6, `${size} bytes`);
  const type = (query) => {
    const input = document.getElementById("filter-q");
    input.value = query;
    input.dispatchEvent(new Event("input"));
  };
  const isFound = (query) =>
    (new URLSearchParams(location.hash.slice(1)).get("q") ?? "") === query &&
    !document.getElementById("filter-count").textContent.includes("…");
  const pauses = {};
  // Other programs pause a browser, too: the shortest of a few pauses is its own.
  for (const query of Array(4).fill(["e", "merge", "pool"]).flat())
    pauses[query] = Math.min(pauses[query] ?? Infinity, await longest(tab, type, isFound, query));
  assert.ok(Math.max(...Object.values(pauses)) < 100, JSON.stringify(pauses));
  await tab.evaluate(() => (location.hash = "view=plots"));
  await tab.until(() => document.querySelectorAll("figure").length === 3 && document.querySelector("#side section"));
  assert.ok((await tab.$$("svg *")).length < 1000);
};
