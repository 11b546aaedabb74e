// Opens a page in an installed Chromium: how long until its first screen is there, and how smoothly its list scrolls.
//
//     RPCGRAPH_BROWSER=FOLDER node look.mjs CHROMIUM PAGE

import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.env.RPCGRAPH_BROWSER, "package.json"));
const puppeteer = require("puppeteer-core");
const [chromium, page] = process.argv.slice(2);

const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const tab = await browser.newPage();
await tab.setViewport({ width: 1280, height: 900 });
for (const view of ["waterfall", "sequence"]) {
  await tab.goto("about:blank");
  await tab.goto(`file://${path.resolve(page)}#view=${view}`);
  await tab.waitForSelector(`.${view} .row`, { timeout: 120000 });
  const first = await tab.evaluate(() => performance.now());
  await tab.waitForSelector("html[data-ready=yes]", { timeout: 120000 });
  const before = await tab.metrics();
  const { frames, seconds } = await tab.evaluate(async () => {
    const list = document.querySelector(".list");
    const began = performance.now();
    let frames = 0;
    for (; performance.now() - began < 3000; frames++) {
      list.scrollTop += 400;
      await new Promise(requestAnimationFrame);
    }
    return { frames, seconds: (performance.now() - began) / 1000 };
  });
  const work = ((await tab.metrics()).TaskDuration - before.TaskDuration) / frames;
  console.log(
    `${view}: first screen after ${(first / 1000).toFixed(2)} s; ${(frames / seconds).toFixed(0)} frames a second, of ${(work * 1000).toFixed(1)} ms work each`,
  );
}
await browser.close();
