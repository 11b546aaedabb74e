// Opens a page in an installed Chromium: how long until its first screen is there, and how smoothly its list scrolls; behind
// each time, what of it the page's own thread computed, which does not depend on what else the machine does.
//
//     RPCGRAPH_BROWSER=FOLDER node look.mjs CHROMIUM PAGE

import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.env.RPCGRAPH_BROWSER, "package.json"));
const puppeteer = require("puppeteer-core");
const [chromium, page] = process.argv.slice(2);

const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const tab = await browser.newPage();
const session = await tab.createCDPSession();
await session.send("Performance.enable", { timeDomain: "threadTicks" });
const worked = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
await tab.setViewport({ width: 1280, height: 900 });
for (const view of ["waterfall", "sequence"]) {
  await tab.goto("about:blank");
  const start = await worked();
  await tab.goto(`file://${path.resolve(page)}#view=${view}`);
  await tab.waitForSelector(`.${view} .row`, { timeout: 120000 });
  const first = await tab.evaluate(() => performance.now());
  const opening = (await worked()) - start;
  await tab.waitForSelector("html[data-ready=yes]", { timeout: 120000 });
  const before = await worked();
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
  const work = ((await worked()) - before) / frames;
  console.log(
    `${view}: first screen after ${(first / 1000).toFixed(2)} s (${opening.toFixed(2)} s); ${(frames / seconds).toFixed(0)} frames a second (${(work * 1000).toFixed(1)} ms each)`,
  );
}
await browser.close();
