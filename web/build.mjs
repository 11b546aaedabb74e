// Puts the page together: node build.mjs BINDINGS FOLDER
//
// BINDINGS is the folder that wasm-bindgen wrote. FOLDER gets the static files, and `rpcgraph.html`, which needs no other file.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";

const [bindings, folder] = process.argv.slice(2);
const root = path.join(import.meta.dirname, "..");
const text = (...names) => readFileSync(path.join(...names), "utf8");
const between = (all, start, end) => all.slice(all.indexOf(start) + start.length, all.lastIndexOf(end));

const digest = (content) => createHash("sha256").update(content).digest();

const glue = text(bindings, "rpcgraph_web.js");
const program = readFileSync(path.join(bindings, "rpcgraph_web_bg.wasm"));
const bound = new Function("rpcgraphProgress", `${glue}; return wasm_bindgen;`)(() => {});
bound.initSync({ module: program });

// The page without logs has the parts that this page shares with it.
const empty = new TextDecoder().decode(new bound.Logs("").page(false, false));
const shared = { style: between(empty, "<style>", "</style>"), script: between(empty, "<script>", "})();") };
const [body] = between(empty, "<body>\n", "</html>").split('<script type="application/json"');
const form = between(text(root, "src/serve/page/query.html"), "<main>", "</main>");
const tools = text(root, "web/tools.html").replace("<!-- the form for queries -->", () => form);

const source = (content) => `'sha256-${digest(content).toString("base64")}'`;
// The worker's page, which is parsed here, has a style of its own.
const styles = source(shared.style);
const style = `${shared.style}\n${text(root, "web/style.css")}`;
const script = `${shared.script}
function questions(askServer) {
${text(root, "src/serve/page/editor.js")}
${text(root, "src/serve/page/query.js")}
return () => { running.abort(); asked = null; said.textContent = ""; for (const part of [shown, downloads]) part.replaceChildren(); };
}
(() => {
${text(root, "web/page.js")}
})();
})();
`;
const worker = `${glue}\n${text(root, "web/worker.js")}`;

const sample = (title, name) => [title, name, text(root, "examples", name)];
const samples = [
  sample("an MCP failure", "mcp-session.ndjson"),
  sample("an LSP session", "lsp-session.ndjson"),
  sample("Ethereum", "ethereum-session.io"),
];
const facts = { ...JSON.parse(bound.offers()), samples, logs: "", title: "rpcgraph" };

/** The page: `head` is what it loads in its head, `end` its scripts. */
function html(policy, head, more, end) {
  const json = JSON.stringify({ ...facts, ...more }).replaceAll("<", "\\u003c");
  const start = text(root, "web/start.html");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${policy}; worker-src blob:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>rpcgraph</title>
${head}
</head>
<body>
${start}${body.replace("<main>", () => `${tools}<main>`).replace("</body>", "")}
<script type="application/json" id="facts">${json}</script>
${end}
</body>
</html>
`;
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
/** Writes a file with a hash in its name, so that browsers can keep it for ever, and returns the name. */
function put(name, content) {
  const [stem, end] = name.split(".");
  const hashed = `${stem}.${digest(content).toString("hex").slice(0, 12)}.${end}`;
  writeFileSync(path.join(folder, hashed), content);
  return hashed;
}

const parts = { worker: put("worker.js", worker), program: put("rpcgraph.wasm", program) };
const [styled, scripted] = [put("page.css", style), put("page.js", script)];
writeFileSync(
  path.join(folder, "index.html"),
  html(
    `script-src 'self' 'wasm-unsafe-eval'; style-src 'self' ${styles}; connect-src 'self'`,
    `<link rel="stylesheet" href="${styled}">`,
    { parts },
    `<script src="${scripted}"></script>`,
  ),
);

if (worker.includes("</script")) throw new Error("the worker's text would end its element");
const packed = gzipSync(program, { level: 9 });
writeFileSync(
  path.join(folder, "rpcgraph.html"),
  html(
    `script-src ${source(script)} 'wasm-unsafe-eval'; style-src ${source(style)} ${styles}`,
    `<style>${style}</style>`,
    {},
    `<script type="application/gzip" id="program">${packed.toString("base64")}</script>
<script type="text/plain" id="worker">${worker}</script>
<script>${script}</script>`,
  ),
);
console.log(`${folder}: the program has ${program.length} bytes, ${packed.length} of them compressed`);
