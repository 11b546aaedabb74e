// Opens pages in an installed Chromium, and tells as JSON what is on each.
//
//     RPCGRAPH_BROWSER=FOLDER node look.mjs CHROMIUM PAGE [PICTURE FOLDER]
//
// FOLDER is where package.json's packages are installed. With a folder for pictures, each view is photographed.

import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.env.RPCGRAPH_BROWSER, "package.json"));
const puppeteer = require("puppeteer-core");
const axe = require.resolve("axe-core/axe.min.js");
const [chromium, page, pictures] = process.argv.slice(2);

const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const said = [];
const violations = [];

async function look(width, scheme, hash) {
  const tab = await browser.newPage();
  tab.on("console", (message) => ["error", "warn"].includes(message.type()) && said.push(message.text()));
  tab.on("pageerror", (error) => said.push(String(error)));
  tab.on("request", (request) => !/^(file|data|blob):/.test(request.url()) && said.push(`asked for ${request.url()}`));
  await tab.setViewport({ width, height: 900 });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await tab.evaluateOnNewDocument(() => (window.alert = (text) => console.error(`alert ${text}`)));
  await tab.goto(`file://${path.resolve(page)}${hash}`);
  await tab.waitForSelector("html[data-ready=yes]", { timeout: 30000 });
  return tab;
}

async function judge(tab, where) {
  // axe is put in past the page's own policy.
  await tab.evaluate(require("node:fs").readFileSync(axe, "utf8"));
  const { violations: found } = await tab.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
  violations.push(
    ...found.map(
      (one) =>
        `${where}: ${one.id}: ${one.nodes
          .slice(0, 3)
          .map((node) => `${node.target} (${node.failureSummary})`)
          .join(" ")}`,
    ),
  );
}

const answer = {};
for (const [width, scheme] of [
  [360, "light"],
  [1280, "dark"],
  [2560, "light"],
  [1280, "light"],
]) {
  for (const view of ["waterfall", "sequence", "plots"]) {
    const tab = await look(width, scheme, `#view=${view}`);
    await judge(tab, `${width} ${scheme} ${view}`);
    if (pictures) {
      // Without the empty space below the content.
      const bottom = await tab.$$eval("body *", (all) => Math.max(...all.map((one) => one.getBoundingClientRect().bottom)));
      const clip = { x: 0, y: 0, width, height: Math.min(900, bottom + 16) };
      await tab.screenshot({ path: path.join(pictures, `${view}-${width}-${scheme}.png`), clip });
    }
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    if (wide) violations.push(`${width} ${view}: wider than the window`);
    if (view === "sequence")
      answer.sequence = await tab.$$eval(".sequence .row", (all) => all.map((one) => [one.textContent, one.className]));
    await tab.close();
  }
}

const tab = await look(1280, "light", "");
const texts = (selector) => tab.$$eval(selector, (all) => all.map((one) => one.textContent));
answer.verdict = await texts("[data-part=verdict] p");
answer.notes = await texts("#notes li");
answer.title = (await texts("[data-part=title]"))[0];
answer.side = Object.fromEntries(
  await tab.$$eval("#side section", (all) =>
    all.map((one) => [one.dataset.part, [...one.querySelectorAll("li")].map((item) => item.textContent)]),
  ),
);
await tab.waitForFunction(
  () => document.querySelector(".waterfall .row") || document.getElementById("filter-count").textContent.startsWith("0 "),
);
answer.rows = await tab.$$eval(".waterfall .row", (all) =>
  all.map((one) => {
    const cells = [...one.querySelectorAll("[data-cell]")].filter((cell) => cell.checkVisibility() && cell.textContent);
    return [one.dataset.message, ...cells.map((cell) => cell.textContent)].join(" ");
  }),
);

// By keyboard alone: from the top to the list, down to its second row, into the message and out again.
const focused = () => tab.evaluate(() => document.activeElement.getAttribute("role") || document.activeElement.id);
let tabs = 0;
while ((await focused()) !== "listbox" && tabs++ < 200) await tab.keyboard.press("Tab");
answer.reachedList = (await focused()) === "listbox";
if (answer.rows.length > 1) await tab.keyboard.press("ArrowDown");
if (answer.rows.length) {
  await tab.keyboard.press("Enter");
  // A text of megabytes takes a while; until then, the panel says that it opens.
  await tab.waitForSelector("#message section .tree, #message section p", { timeout: 30000 });
  answer.opened = (await texts("#message-title"))[0];
  answer.shown = (await texts("#message .tree"))[0];
  answer.address = await tab.evaluate(() => location.hash);
  answer.focusInMessage = await focused();
  await judge(tab, "an open message");
  if (pictures) await tab.screenshot({ path: path.join(pictures, "message.png") });
  await tab.keyboard.press("Escape");
  await tab.waitForFunction(() => document.getElementById("message").hidden);
  answer.focusAfter = await focused();
  // A click, and a filter.
  await tab.click(".waterfall .row");
  await tab.waitForSelector("#message:not([hidden])");
  answer.clicked = (await texts("#message-title"))[0];
  await tab.click("#chips button");
  await tab.waitForFunction(() => {
    const failed = document.querySelector("#chips b").textContent;
    return location.hash.includes("outcome=failed") && document.querySelectorAll(".waterfall .row").length === Number(failed);
  });
  answer.failed = await texts(".waterfall .row");
}
answer.said = said;
answer.violations = violations;
await browser.close();
console.log(JSON.stringify(answer));
