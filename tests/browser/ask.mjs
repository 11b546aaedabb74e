// Opens what is served in an installed Chromium, asks, and tells as JSON what is there.
//
//     RPCGRAPH_BROWSER=FOLDER node ask.mjs CHROMIUM URL LOG
//
// LOG is the file that is served, to which it adds a message.

import { createRequire } from "node:module";
import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";

const require = createRequire(path.join(process.env.RPCGRAPH_BROWSER, "package.json"));
const puppeteer = require("puppeteer-core");
const [chromium, url, log] = process.argv.slice(2);
const origin = new URL(url).origin;

const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const answer = { said: [], violations: [] };
const tab = await browser.newPage();
let refused = false;
tab.on("console", (message) => ["error", "warn"].includes(message.type()) && !refused && answer.said.push(message.text()));
tab.on("pageerror", (error) => answer.said.push(String(error)));
tab.on(
  "request",
  (request) =>
    new URL(request.url()).origin === origin || /^(data|blob):/.test(request.url()) || answer.said.push(`asked for ${request.url()}`),
);
await tab.evaluateOnNewDocument(() => (window.alert = (text) => console.error(`alert ${text}`)));

const ready = () => tab.waitForSelector("html[data-ready=yes]", { timeout: 30000 });
const text = (selector) => tab.$eval(selector, (one) => one.textContent);
const answered = () =>
  tab.waitForFunction(() => document.getElementById("said").textContent && document.getElementById("said").textContent !== "Asking…");

async function judge() {
  await tab.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  const session = await tab.createCDPSession();
  for (const [scheme, forced] of [
    ["dark", "none"],
    ["light", "active"],
    ["light", "none"],
  ]) {
    const features = [
      { name: "prefers-color-scheme", value: scheme },
      { name: "forced-colors", value: forced },
    ];
    await session.send("Emulation.setEmulatedMedia", { features });
    const { violations } = await tab.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
    answer.violations.push(
      ...violations.map((one) => `${scheme} ${forced}: ${one.id}: ${one.nodes.map((node) => node.failureSummary).join(" ")}`),
    );
  }
}

async function ask(query) {
  await tab.$eval("#text", (area, value) => (area.value = value), query);
  // Clears the message of the answer before: the page asks only once its address has changed.
  await tab.$eval("#said", (one) => (one.textContent = ""));
  await tab.click("#question button");
  await tab.waitForFunction((value) => new URLSearchParams(location.hash.slice(1)).get("query") === value, {}, query);
  await answered();
}

// The favicon, which no page names, is the browser's own idea.
await tab.setRequestInterception(true);
tab.on("request", (request) => (request.url().endsWith("/favicon.ico") ? request.abort() : request.continue()));

await tab.goto(url);
await ready();
const pages = `${origin}/${new URL(url).searchParams.get("token")}/`;
if (tab.url() !== pages) answer.said.push(`the pages are at ${tab.url()}`);
if ((await browser.cookies()).length > 0) answer.said.push("there is a cookie");
// From a message to its triples.
await tab.click(".waterfall .row");
await tab.waitForSelector("#message a[href^='query#']");
await tab.click("#message a[href^='query#']");
await tab.waitForSelector("#text");
await answered();
answer.described = await text("#answer");
// From the page to the question.
await tab.goto(pages);
await ready();
await tab.click("#ask a");
await tab.waitForSelector("#text");
await ready();
await ask("SELECT ?method { ?request jrpc:hasMethod ?method } ORDER BY ?method");
answer.methods = await tab.$$eval("#answer td", (all) => all.map((one) => one.textContent));
answer.status = await text("#said");
await judge();
await ask("CONSTRUCT WHERE { ?s jrpc:hasMethod ?o }");
answer.graph = await text("#answer");
// Columns are as wide as their words, however many there are.
const names = "one two three four five six seven eight nine ten eleven twelve".split(" ").map((name) => `?${name}`);
await ask(`SELECT * { VALUES (${names.join(" ")}) { (${names.map(() => '"a_tool_with_a_long_name"').join(" ")}) } }`);
answer.brokenWords = await tab.$$eval(
  "#answer td",
  (all) =>
    all.filter((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return range.getClientRects().length > 1;
    }).length,
);
await tab.select("#named", "methods");
answer.named = await tab.$eval("#text", (area) => area.value);
answer.firstLine = await tab.evaluate(() => {
  const top = document.getElementById("colours").getBoundingClientRect().top;
  const isSeen = (one) => one.getBoundingClientRect().bottom > top + 8;
  return [...document.querySelectorAll("#colours span")].find(isSeen).textContent;
});
// Names have prefixes, messages are links to the page, and ASK is answered in a word.
await ask("SELECT ?message ?class { ?message a ?class ; jrpc:hasMethod 'subtract' }");
answer.cells = await tab.$$eval("#answer td", (all) => all.map((one) => one.textContent));
answer.coloured = await tab.$$eval("#colours .token-word", (all) => all.map((one) => one.textContent));
await tab.evaluate(() => (URL.createObjectURL = (blob) => (blob.text().then((text) => (window.saved = text)), "data:,")));
answer.downloads = {};
for (const button of await tab.$$("#downloads button")) {
  await tab.evaluate(() => (window.saved = null));
  await button.click();
  await tab.waitForFunction(() => window.saved);
  answer.downloads[await button.evaluate((one) => one.textContent)] = await tab.evaluate(() => window.saved);
}
await tab.click("#answer td a");
await tab.waitForSelector("#message .tree");
answer.linked = await text("#message-title");
// The page reads the logs again, in place of the data it had.
answer.before = await text("#filter-count");
await tab.evaluate(() => (location.hash = "view=sequence"));
appendFileSync(log, '{"jsonrpc":"2.0","id":"late","method":"late"}\n');
// While the server still reads what was appended, it answers with what it has: then the page asks again.
const isThere = () => {
  const rows = [...document.querySelectorAll(".sequence .row")];
  return rows.some((row) => row.textContent.includes("late")) || (document.getElementById("again").click(), false);
};
await tab.waitForFunction(isThere, { polling: 3000 });
answer.after = await text("#filter-count");
await tab.goto(`${pages}query`);
await ready();
await ask("ASK { ?request jrpc:hasMethod 'subtract' }");
answer.truth = await text("#answer");
// The terms of the log complete what is typed.
await tab.$eval("#text", (area) => ((area.value = ""), area.focus()));
await tab.waitForFunction(() => document.activeElement.id === "text");
await new Promise((resolve) => setTimeout(resolve, 1000));
await tab.keyboard.type("SELECT * { ?r hasMet");
await tab.waitForSelector("#terms li");
answer.terms = await tab.$$eval("#terms li", (all) => all.map((one) => one.textContent));
await judge();
await tab.keyboard.press("Enter");
await tab.keyboard.type(" 'x' }");
answer.completed = await tab.$eval("#text", (area) => area.value);
// The browser itself logs refusals to the console.
refused = true;
await ask("SELECT");
answer.wrong = await text("#answer");
await browser.close();
console.log(JSON.stringify(answer));
