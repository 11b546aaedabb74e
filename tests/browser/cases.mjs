// Runs the cases of a folder in an installed Chromium: each is a log, and a function that uses its page as a reader would.
//
//     RPCGRAPH_BROWSER=FOLDER node cases.mjs CHROMIUM RPCGRAPH [CASE...]
//
// A case exports `logs`, the content of files by name, perhaps `args` of the command, and a default function that is given
// `open(hash, options)`, which opens the page, and fails where it throws. Messages of the console and findings of axe let a case fail, too.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

const require = createRequire(path.join(process.env.RPCGRAPH_BROWSER, "package.json"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [chromium, rpcgraph, ...wanted] = process.argv.slice(2);
const cases = path.join(import.meta.dirname, "cases");
const folder = mkdtempSync(path.join(tmpdir(), "rpcgraph-cases-"));
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
let failed = 0;

/** Makes the page of some logs. */
function made(logs, args = ["--full"]) {
  const names = Object.keys(logs);
  names.forEach((name) => writeFileSync(path.join(folder, name), logs[name]));
  const ran = spawnSync(rpcgraph, ["report", ...names, ...args, "-o", "page.html"], { cwd: folder, encoding: "utf8" });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return path.join(folder, "page.html");
}

async function opened(page, hash, { width = 1280, height = 900, scheme = "light", forced = false, scripts = true, lacks = "" } = {}, tabs) {
  const tab = await browser.newPage();
  tabs.push(tab);
  tab.said = [];
  tab.on("console", (message) => ["error", "warn"].includes(message.type()) && tab.said.push(message.text()));
  tab.on("pageerror", (error) => tab.said.push(String(error)));
  await tab.setViewport({ width, height });
  const features = [{ name: "prefers-color-scheme", value: scheme }];
  // Puppeteer does not know forced colours by name.
  if (forced) features.push({ name: "forced-colors", value: "active" });
  await (await tab.createCDPSession()).send("Emulation.setEmulatedMedia", { features });
  await tab.setJavaScriptEnabled(scripts);
  await tab.evaluateOnNewDocument((name) => delete window[name], lacks);
  await tab.goto(`file://${page}${hash}`);
  // Nothing can look into the page then, but what it says to those who cannot see it.
  if (!scripts) return Object.assign(tab, { isStill: true, tree: () => tab.accessibility.snapshot({ interestingOnly: false }) });
  await tab.waitForSelector(lacks ? "#remark" : "html[data-ready=yes]", { timeout: 30000 });
  return Object.assign(tab, {
    texts: (selector) => tab.$$eval(selector, (all) => all.map((one) => one.textContent)),
    until: (condition, ...values) => tab.waitForFunction(condition, { timeout: 10000 }, ...values),
    hash: () => tab.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1)))),
    type: (selector, text) => tab.$eval(selector, (input, value) => ((input.value = value), input.dispatchEvent(new Event("input"))), text),
  });
}

/** The findings of axe on a tab as it is. */
async function found(tab) {
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
  return violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target} (${node.failureSummary})`).join(" ")}`);
}

for (const file of readdirSync(cases).sort()) {
  const name = path.basename(file, ".mjs");
  if (wanted.length && !wanted.includes(name)) continue;
  const { logs, args, default: run } = await import(path.join(cases, file));
  const tabs = [];
  try {
    const page = made(logs, args);
    await run((hash = "", options = {}) => opened(page, hash, options, tabs));
    for (const tab of tabs) {
      const problems = [...tab.said, ...(tab.isStill ? [] : await found(tab))];
      if (problems.length) throw new Error(problems.join("\n"));
    }
    console.log(`${name}: passed`);
  } catch (error) {
    failed++;
    console.log(`${name}: ${error.stack}`);
  }
  await Promise.all(tabs.map((tab) => tab.close()));
}
await browser.close();
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
