// Runs the program of `web/` in Node, and compares it with the command.
//
//     node program.mjs BINDINGS RPCGRAPH
//
// BINDINGS is the folder that wasm-bindgen wrote.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";

const [bindings, rpcgraph] = process.argv.slice(2);
const root = path.join(import.meta.dirname, "../..");
const glue = readFileSync(path.join(bindings, "rpcgraph_web.js"), "utf8");
const program = new WebAssembly.Module(readFileSync(path.join(bindings, "rpcgraph_web_bg.wasm")));
let read = 0;
const web = new Function("rpcgraphProgress", `${glue}; return wasm_bindgen;`)((bytes) => (read += bytes));
web.initSync({ module: program });

const folder = mkdtempSync(path.join(tmpdir(), "rpcgraph-web-"));
const decoded = (bytes) => new TextDecoder().decode(bytes);

/** Opens logs, given by their names. */
function opened(files, format = "") {
  const logs = new web.Logs(format);
  for (const [name, content] of Object.entries(files)) logs.add(name, new Uint8Array(Buffer.from(content)));
  return logs;
}

/** The answer of the command about files in the folder. */
function command(args, files) {
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
  const ran = spawnSync(rpcgraph, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
  assert.ok(ran.status === 0, `${args}: ${ran.stderr}`);
  return ran.stdout;
}

const csv = (logs, query) => decoded(logs.ask(query, "text/csv").bytes);
const value = (query) => csv(opened({ log: "" }), query).split("\r\n")[1];
const example = (name) => ({ [name]: readFileSync(path.join(root, "examples", name)) });
const EXAMPLES = ["mcp-session.ndjson", "lsp-session.ndjson", "ethereum-session.io", "checked-session.ndjson"].map(example);
const failure = (run) => {
  try {
    run();
  } catch (error) {
    return error.message;
  }
  assert.fail("it does not fail");
};

const tests = {
  "the program is soon there"() {
    const { length } = gzipSync(readFileSync(path.join(bindings, "rpcgraph_web_bg.wasm")), { level: 9 });
    assert.ok(length < 3.1e6, `${length} bytes, compressed`);
  },
  "the clock is JavaScript's"() {
    const away = Date.parse(value("SELECT (NOW() AS ?now) {}")) - Date.now();
    assert.ok(Math.abs(away) < 60_000, `${away} ms`);
  },
  "random numbers and UUIDs differ"() {
    for (const call of ["RAND()", "STRUUID()", "UUID()", "BNODE()"]) {
      const query = `SELECT (STR(${call === "BNODE()" ? "STRUUID()" : call}) AS ?value) {}`;
      assert.notEqual(value(query), value(query), call);
    }
    assert.match(value("SELECT (STRUUID() AS ?id) {}"), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.ok(Number(value("SELECT (RAND() AS ?number) {}")) < 1);
  },
  "deep queries are answered, and deeper ones refused as by the command"() {
    const nested = (depth) => `SELECT (${"(".repeat(depth)}1${")".repeat(depth)} AS ?one) {}`;
    assert.equal(value(nested(250)), "1");
    assert.match(
      failure(() => value(nested(300))),
      /brackets are nested more than 256 deep/,
    );
    assert.equal(value(`SELECT (${"1+".repeat(1000)}1 AS ?sum) {}`), "1001");
    assert.match(
      failure(() => value(`SELECT (${"1+".repeat(6000)}1 AS ?sum) {}`)),
      /more than 5000 operators/,
    );
  },
  "deep messages are read as by the command"() {
    const deep = (depth) => `{"jsonrpc":"2.0","id":1,"method":"m","params":${"[".repeat(depth)}${"]".repeat(depth)}}\n`;
    const files = { "deep.ndjson": deep(1000) + deep(5000) };
    const query = "SELECT ?class (COUNT(*) AS ?count) { ?message a ?class ; rpcg:sequence ?sequence } GROUP BY ?class ORDER BY ?class";
    const expected = command(["query", query, "deep.ndjson", "-t", "csv"], files);
    assert.equal(csv(opened(files), query), expected);
    assert.equal(decoded(opened(files).graph("nt", false)).length > 1000, true);
  },
  "every question has the answer of the command, on one thread"() {
    for (const files of EXAMPLES) {
      const [name] = Object.keys(files);
      const logs = opened(files);
      for (const { name: question, text } of JSON.parse(web.offers()).queries) {
        const expected = command(["query", text, name, "--base", `urn:rpcgraph:${name}`, "-t", "csv"], files);
        assert.equal(csv(logs, text), expected, `${question} of ${name}`);
      }
    }
  },
  "graphs equal the command's"() {
    for (const files of EXAMPLES) {
      const [name] = Object.keys(files);
      for (const [extension, syntax] of [
        ["ttl", "turtle"],
        ["nq", "nquads"],
      ]) {
        const expected = command(["convert", "--quiet", name, "--base", `urn:rpcgraph:${name}`, "-t", syntax], files);
        assert.equal(decoded(opened(files).graph(extension, false)), expected, name);
      }
    }
  },
  "the rules have the verdicts of the command"() {
    for (const files of EXAMPLES) {
      const [name] = Object.keys(files);
      const ran = spawnSync(rpcgraph, ["check", "--quiet", name, "--base", `urn:rpcgraph:${name}`, "-t", "json"], {
        cwd: folder,
        encoding: "utf8",
      });
      const lines = ran.stdout.replaceAll(`"input":"${name}"`, `"input":"urn:rpcgraph:${name}"`);
      assert.equal(opened(files).check()[1], lines, name);
    }
  },
  "compressed logs are read"() {
    const [name] = Object.keys(EXAMPLES[0]);
    const text = EXAMPLES[0][name];
    const expected = decoded(opened({ log: text }).graph("nt", false));
    const compressed = { gzip: gzipSync(text) };
    for (const tool of ["zstd", "xz", "bzip2"]) {
      const ran = spawnSync(tool, ["-c"], { input: text });
      if (ran.status === 0) compressed[tool] = Buffer.concat([ran.stdout]);
      else console.log(`skipped: ${tool} is not installed`);
    }
    for (const [kind, bytes] of Object.entries(compressed))
      assert.equal(decoded(opened({ log: bytes }).graph("nt", false)), expected, kind);
    if (compressed.zstd) {
      const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
      const frames = { log: Buffer.concat([compressed.zstd, skippable, compressed.zstd]) };
      assert.equal(decoded(opened(frames).graph("nt", false)), decoded(opened({ log: text + text }).graph("nt", false)));
      for (const length of [6, 50, compressed.zstd.length - 1])
        assert.match(
          failure(() => opened({ log: compressed.zstd.subarray(0, length) }).page(false, false)),
          /zstd data ends early/,
        );
    }
    assert.match(
      failure(() => opened({ log: compressed.gzip.subarray(0, 100) }).page(false, false)),
      /gzip data ends early/,
    );
  },
  "a file that is not a log is refused as by the command"() {
    assert.match(
      failure(() => opened({ "notes.txt": "Dear diary,\ntoday nothing happened.\n" }).page(false, true)),
      /^notes\.txt: found no JSON-RPC/,
    );
    const logs = opened({ "notes.txt": "Dear diary\n", ...EXAMPLES[0] });
    logs.page(false, true);
    assert.match(logs.notes().join(), /^notes\.txt: found no JSON-RPC/);
    assert.match(
      failure(() => csv(logs, "SELECT")),
      /not SPARQL, at line 1/,
    );
    assert.match(
      failure(() => csv(logs, "SELECT * { SERVICE <https://example.org/> { ?s ?p ?o } }")),
      /never connects/,
    );
  },
  "redacted graphs and pages have no content"() {
    const log = '{"jsonrpc":"2.0","id":"secret-id","method":"tools/call","params":{"name":"t","arguments":{"key":"secret-value"}}}\n';
    const logs = opened({ "secret-name.ndjson": log });
    for (const extension of ["ttl", "nq"]) {
      assert.match(decoded(logs.graph(extension, false)), /secret-value/);
      assert.doesNotMatch(decoded(logs.graph(extension, true)), /secret/);
      assert.match(decoded(logs.graph(extension, true)), /tools\/call/);
    }
    assert.doesNotMatch(decoded(logs.page(true, false)), /secret-name/);
  },
  "placeholders cannot be foreseen"() {
    const log = '{"jsonrpc":"2.0","id":"secret","method":"m"}\n';
    const fresh = () => {
      const other = new Function("rpcgraphProgress", `${glue}; return wasm_bindgen;`)(() => {});
      other.initSync({ module: program });
      const logs = new other.Logs("");
      logs.add("log", new Uint8Array(Buffer.from(log)));
      return decoded(logs.graph("nt", true)).match(/hasStringValue> "(x[a-z]{15})"/)[1];
    };
    assert.equal(new Set([fresh(), fresh(), fresh()]).size, 3);
  },
  "logs of one name are two sessions, and reading is counted"() {
    const logs = new web.Logs("");
    const bytes = () => new Uint8Array(EXAMPLES[0]["mcp-session.ndjson"]);
    logs.add("log", bytes());
    logs.add("log", bytes());
    read = 0;
    assert.equal(csv(logs, "SELECT (COUNT(*) AS ?count) { ?session a rpcg:Session }"), "count\r\n2\r\n");
    assert.equal(read, 2 * bytes().length);
  },
  "a stated format is kept"() {
    const [name] = Object.keys(EXAMPLES[0]);
    const formats = csv(opened(EXAMPLES[0], "json-values"), "SELECT ?format { ?session rpcg:format ?format }");
    assert.equal(formats, "format\r\njson-values\r\n", name);
  },
};

let failed = 0;
for (const [name, run] of Object.entries(tests)) {
  try {
    run();
    console.log(`${name}: passed`);
  } catch (error) {
    failed++;
    console.log(`${name}: ${error.stack}`);
  }
}
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
