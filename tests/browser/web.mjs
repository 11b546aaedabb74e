// Uses the page of `web/` in an installed Chromium as a reader would: the static files and the one file.
//
//     RPCGRAPH_BROWSER=FOLDER node web.mjs CHROMIUM SITE [CASE...]
//
// SITE is the folder that `web/build.sh` wrote.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { gzipSync } from "node:zlib";

const require = createRequire(path.join(process.env.RPCGRAPH_BROWSER, "package.json"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [chromium, site, ...wanted] = process.argv.slice(2);
const TYPES = { html: "text/html", css: "text/css", js: "text/javascript", wasm: "application/wasm" };

const asked = [];
const server = createServer((request, response) => {
  const name = request.url === "/" ? "index.html" : path.basename(request.url);
  asked.push(request.url);
  try {
    response.setHeader("Content-Type", TYPES[name.split(".").pop()] ?? "text/plain");
    response.end(readFileSync(path.join(site, name)));
  } catch {
    response.writeHead(name === "favicon.ico" ? 204 : 404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const pages = { folder: `http://127.0.0.1:${server.address().port}/`, file: `file://${path.resolve(site, "rpcgraph.html")}` };
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });

/** Opens a page; what the console says beyond `expected` fails the case. */
async function opened(url, expected) {
  const tab = await browser.newPage();
  tab.said = [];
  tab.on(
    "console",
    (message) => ["error", "warn"].includes(message.type()) && !expected?.test(message.text()) && tab.said.push(message.text()),
  );
  tab.on("pageerror", (error) => tab.said.push(String(error)));
  tab.on(
    "request",
    (request) => /^(file|data|blob):/.test(request.url()) || request.url().startsWith(pages.folder) || tab.said.push(request.url()),
  );
  await tab.evaluateOnNewDocument(() => {
    window.alert = (text) => console.error(`alert ${text}`);
    window.saved = [];
    const create = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      if (!/javascript/.test(blob.type)) blob.text().then((text) => window.saved.push([blob.type, text]));
      return create(blob);
    };
  });
  await tab.goto(url);
  return Object.assign(tab, {
    text: (selector) => tab.$eval(selector, (one) => one.textContent),
    texts: (selector) => tab.$$eval(selector, (all) => all.map((one) => one.textContent)),
    until: (condition, ...values) => tab.waitForFunction(condition, { timeout: 30000 }, ...values),
    ready: () => tab.waitForSelector("html[data-ready=yes]", { timeout: 60000 }),
    /** Drops files: texts or bytes by their names. */
    drop: (files) =>
      tab.evaluate(
        (all) => {
          const data = new DataTransfer();
          for (const [name, text] of all) data.items.add(new File([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))], name));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        },
        Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString("base64")]),
      ),
    failure: () => tab.waitForSelector("#failure:not([hidden])").then(() => tab.$eval("#failure", (one) => one.textContent)),
    async ask(query) {
      await tab.$eval("#tools", (tools) => (tools.open = true));
      await tab.$eval("#text", (area, value) => (area.value = value), query);
      await tab.$eval("#question", (form) => form.requestSubmit());
      await tab.until((value) => new URLSearchParams(location.hash.slice(1)).get("query") === value, query);
      await tab.until(() => !["", "Asking…"].includes(document.getElementById("said").textContent));
      return tab.texts("#answer td");
    },
    async save(title) {
      await tab.evaluate(() => (window.saved = []));
      await tab.evaluate((name) => [...document.querySelectorAll("#saves button")].find((one) => one.textContent === name).click(), title);
      await tab.until(() => window.saved.length);
      return tab.evaluate(() => window.saved[0]);
    },
    async judge() {
      await tab.evaluate(axe);
      const { violations } = await tab.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
      assert.deepEqual(
        violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target} (${node.failureSummary})`).join(" ")}`),
        [],
      );
    },
  });
}

const line = (id, method, answer) =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}}\n{"jsonrpc":"2.0","id":${id},${answer}}\n`;
const FIRST =
  line(1, "first/one", '"result":{"text":"needle"}') + line(2, "first/two", '"error":{"code":-32601,"message":"no such method"}');
const SECOND = line(1, "second/one", '"result":null');

const cases = {
  async "a log is dropped, asked and saved"(url) {
    const tab = await opened(url);
    await tab.judge();
    await tab.drop({ "first.ndjson": FIRST });
    await tab.ready();
    assert.match(await tab.text("#verdict"), /1 of 2 calls failed/);
    assert.equal((await tab.texts(".waterfall .row")).length, 2);
    await tab.judge();
    // A question with a name, as a table.
    await tab.$eval("#tools", (tools) => (tools.open = true));
    await tab.select("#named", "methods");
    await tab.until(() => document.getElementById("answer").textContent.includes("first/one"));
    assert.equal(await tab.text("#filter-count"), "2 calls", "a question is not a filter");
    await tab.judge();
    // SPARQL; a message of the answer is a link into the page.
    assert.deepEqual(await tab.ask("SELECT ?method { ?call jrpc:hasMethod ?method } ORDER BY ?method"), ["first/one", "first/two"]);
    await tab.ask("SELECT ?call { ?call jrpc:hasMethod 'first/two' }");
    await tab.click("#answer td a");
    await tab.waitForSelector("#message .tree");
    assert.equal(await tab.text("#message-title"), "m3 first/two");
    assert.match(await tab.text("#answer"), /#m3/, "the answer stays");
    // From a message to its triples.
    await tab.click("#message a[href*='DESCRIBE']");
    await tab.until(() => document.querySelector("#answer pre")?.textContent.includes("jrpc:Request"));
    await tab.ask("SELECT");
    assert.match(await tab.text("#answer"), /not SPARQL, at line 1/);
    // The search in the texts has a worker of its own.
    await tab.$eval("#filter-q", (input) => ((input.value = "needle"), input.dispatchEvent(new Event("input"))));
    await tab.until(() => document.getElementById("filter-count").textContent === "1 of 2 calls");
    const [type, turtle] = await tab.save("Turtle");
    assert.equal(type, "text/turtle");
    assert.match(turtle, /jrpc:hasMethod "first\/one"/);
    assert.match((await tab.save("N-Quads"))[1], /<urn:rpcgraph:first.ndjson#m1> .* <urn:rpcgraph:first.ndjson> \.\n/);
    const [, page] = await tab.save("The page");
    assert.match(page, /^<!DOCTYPE html>|^<!--/);
    await tab.$eval("#redacted", (box) => box.click());
    assert.doesNotMatch((await tab.save("Turtle"))[1], /needle/);
    assert.doesNotMatch((await tab.save("The page"))[1], /first\.ndjson/);
    return tab;
  },
  async "the rules are applied"(url) {
    const tab = await opened(url);
    await tab.drop({ "log.ndjson": readFileSync(path.join(import.meta.dirname, "../../examples/checked-session.ndjson")) });
    await tab.ready();
    await tab.$eval("#tools", (tools) => (tools.open = true));
    await tab.click("#check");
    await tab.until(() => document.getElementById("checked").textContent.includes(" broken, "));
    await tab.judge();
    await tab.click("#faults a");
    await tab.waitForSelector("#message .tree");
    assert.match(await tab.text("#message-title"), /^m6 /);
    return tab;
  },
  async "a second log takes the place of the first"(url) {
    const tab = await opened(url);
    await tab.drop({ "first.ndjson": FIRST });
    await tab.ready();
    await tab.ask("SELECT ?method { ?call jrpc:hasMethod ?method }");
    await tab.evaluate(() => (location.hash = "open=m3&outcome=failed"));
    await tab.waitForSelector("#message .tree");
    await tab.drop({ "second.ndjson": gzipSync(SECOND), "third.ndjson": SECOND });
    await tab.until(() => document.getElementById("title").textContent.startsWith("second"));
    await tab.ready();
    assert.doesNotMatch(await tab.text("body > main"), /first\//);
    assert.equal(await tab.text("#answer"), "");
    assert.deepEqual(await tab.ask("SELECT ?method { ?call jrpc:hasMethod ?method }"), ["second/one", "second/one"]);
    return tab;
  },
  async "samples, pasted logs and chosen formats"(url) {
    const tab = await opened(url);
    for (const [title, verdict] of [
      ["an MCP failure", /2 of 4 calls failed/],
      ["an LSP session", /./],
      ["Ethereum", /./],
    ]) {
      await tab.evaluate(
        (name) => [...document.querySelectorAll("#samples button")].find((one) => one.textContent === name).click(),
        title,
      );
      await tab.ready();
      assert.match(await tab.text("#verdict"), verdict, title);
      await tab.judge();
    }
    await tab.$eval("#paste", (paste) => (paste.open = true));
    await tab.$eval("#pasted", (area, text) => (area.value = text), SECOND);
    await tab.click("#read");
    await tab.until(() => document.getElementById("title").textContent === "pasted");
    await tab.ready();
    const format = "SELECT ?format { ?session rpcg:format ?format }";
    assert.deepEqual(await tab.ask(format), ["json-lines"]);
    await tab.select("#format", "json-values");
    await tab.ready();
    assert.deepEqual(await tab.ask(format), ["json-values"]);
    return tab;
  },
  async "broken logs say why, and the next log opens"(url) {
    const tab = await opened(url);
    await tab.drop({ "notes.txt": "Dear diary,\ntoday nothing happened.\n" });
    assert.match(await tab.failure(), /^notes\.txt: found no JSON-RPC .*/);
    await tab.drop({ "cut.gz": gzipSync(FIRST.repeat(50)).subarray(0, 90) });
    await tab.until(() => /cut\.gz: .*gzip data ends early/.test(document.getElementById("failure").textContent));
    assert.equal(await tab.$eval("body > main", (main) => main.checkVisibility()), false);
    await tab.judge();
    await tab.drop({ "half.ndjson": `${FIRST}{"jsonrpc":"2.0","id":3,"met` });
    await tab.ready();
    assert.equal(await tab.$eval("#failure", (one) => one.hidden), true);
    assert.match(await tab.text("#filter-count"), /2 calls/);
    return tab;
  },
  async "hostile logs stay text"(url) {
    const tab = await opened(url);
    const html = "<img src=x onerror=alert(1)></script><script>alert(2)</script>";
    const deep = (depth) => `{"jsonrpc":"2.0","id":7,"method":"deep","params":${"[".repeat(depth)}${"]".repeat(depth)}}\n`;
    const huge = `{"jsonrpc":"2.0","id":8,"method":"huge","params":["${"x".repeat(20_000_000)}"]}\n`;
    await tab.drop({
      [`${html}.ndjson`]: line(1, html, `"error":{"code":1,"message":${JSON.stringify(html)}}`) + deep(1000) + deep(100_000) + huge,
    });
    await tab.ready();
    assert.match(await tab.text("[data-part=causes]"), /onerror=alert/);
    assert.match(await tab.text("#title"), /onerror=alert/);
    assert.ok((await tab.ask("SELECT ?method { ?call jrpc:hasMethod ?method }")).includes(html));
    await tab.$eval("#check", (button) => button.click());
    await tab.until(() => document.getElementById("checked").textContent.includes(" broken, "));
    assert.ok((await tab.save("Turtle"))[1].includes("onerror=alert"));
    await tab.evaluate(() => (location.hash = "open=m3"));
    await tab.waitForSelector("#message .tree");
    return tab;
  },
  async "a query that takes too long is stopped"(url) {
    const tab = await opened(url);
    await tab.drop({ "first.ndjson": FIRST.repeat(200) });
    await tab.ready();
    const long = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(STR(?c) < STR(?f) && STR(?f) < STR(?i)) }";
    await tab.$eval("#text", (area, value) => (area.value = value), long);
    await tab.$eval("#question", (form) => form.requestSubmit());
    await tab.waitForSelector("#stop:not([hidden])");
    await new Promise((resolve) => setTimeout(resolve, 500));
    await tab.click("#stop");
    await tab.until(() => document.getElementById("answer").textContent.includes("it was stopped"));
    assert.equal((await tab.ask("SELECT (COUNT(*) AS ?n) { ?call jrpc:hasMethod ?method }")).join(), "400");
    return tab;
  },
  async "deep queries are answered or refused"(url) {
    const tab = await opened(url);
    await tab.drop({ "first.ndjson": FIRST });
    await tab.ready();
    const nested = (depth) => `SELECT (${"(".repeat(depth)}1${")".repeat(depth)} AS ?one) {}`;
    assert.equal((await tab.ask(nested(250))).join(), "1");
    await tab.ask(nested(300));
    assert.match(await tab.text("#answer"), /more than 256 deep/);
    await tab.ask(`SELECT (${"1+".repeat(4900)}1 AS ?sum) {}`);
    assert.match(await tab.text("#answer"), /4901|nested too deeply/);
    assert.equal((await tab.ask("SELECT (1 AS ?one) {}")).join(), "1");
    return tab;
  },
  async "nothing is sent"(url) {
    const tab = await opened(url, /Content Security Policy|Refused to connect|violates the following/);
    const before = asked.length;
    await tab.drop({ "first.ndjson": FIRST });
    await tab.ready();
    await tab.ask("SELECT ?method { ?call jrpc:hasMethod ?method }");
    const parts = asked.slice(before).filter((one) => !/favicon|^\/$|\.(css|js|wasm)$/.test(one));
    assert.deepEqual(parts, []);
    for (const target of ["https://example.org/", `${pages.folder}leak`]) {
      assert.equal(
        await tab.evaluate(
          (to) =>
            fetch(to).then(
              () => "sent",
              () => "refused",
            ),
          target,
        ),
        "refused",
        target,
      );
      const fromWorker = (to) =>
        new Promise((resolve) => {
          const text = `fetch(${JSON.stringify(to)}).then(() => postMessage("sent"), () => postMessage("refused"))`;
          const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
          worker.onmessage = ({ data }) => resolve(data);
        });
      assert.equal(await tab.evaluate(fromWorker, target), "refused", target);
    }
    assert.ok(!asked.includes("/leak"));
    return tab;
  },
  async "logs beyond the limit are for the command"(url) {
    const tab = await opened(url);
    await tab.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(101e6)], "large.ndjson"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    assert.match(await tab.failure(), /The logs have 101 MB, and this page reads 100 MB.*pip install rpcgraph/);
    return tab;
  },
  async "40,000 messages are on the screen, and their time is printed"(url) {
    const log = Array.from({ length: 20_000 }, (_, id) => {
      const time = new Date(1.7e12 + 50 * id).toISOString();
      const message = (members) => `{"time":"${time}","message":{"jsonrpc":"2.0","id":${id},${members}}}\n`;
      const call = message(`"method":"tools/call","params":{"name":"tool${id % 40}","arguments":{"city":"Bergen ${id}"}}`);
      return (
        call +
        message(id % 50 ? `"result":{"content":[{"type":"text","text":"sunny in ${id}"}]}` : `"error":{"code":-1,"message":"no ${id}"}`)
      );
    }).join("");
    const tab = await opened(url);
    await tab.until(() => document.getElementById("format").options.length > 1);
    await tab.drop({ "small.ndjson": SECOND });
    await tab.ready();
    const session = await browser.target().createCDPSession();
    const seconds = async () => {
      const { processInfo } = await session.send("SystemInfo.getProcessInfo");
      return processInfo.filter(({ type }) => type === "renderer").reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    };
    await tab.evaluate((text) => (window.log = text), log);
    const before = await seconds();
    await tab.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File([window.log], "many.ndjson"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await tab.until(() => document.getElementById("title").textContent === "many.ndjson" && document.querySelector("html[data-ready=yes]"));
    const took = (await seconds()) - before;
    console.log(`40,000 messages (${(log.length / 1e6).toFixed(1)} MB): ${took.toFixed(2)} s of processor time`);
    assert.match(await tab.text("#filter-count"), /20,000 calls/);
    return tab;
  },
};

let failed = 0;
for (const [kind, url] of Object.entries(pages))
  for (const [name, run] of Object.entries(cases)) {
    if (wanted.length && !wanted.some((one) => `${kind}: ${name}`.includes(one))) continue;
    try {
      const tab = await run(url);
      assert.deepEqual(tab.said, []);
      console.log(`${kind}: ${name}: passed`);
    } catch (error) {
      failed++;
      console.log(`${kind}: ${name}: ${error.stack}`);
    }
    for (const tab of await browser.pages()) if (tab.said) await tab.close();
  }
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
