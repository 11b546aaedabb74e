// Opens logs: a worker holds the program and the logs, and makes the page that is shown.

const MOST_BYTES = 100e6;
const INSTALL = "The command reads logs of any size: `pip install rpcgraph`, then `rpcgraph report LOG -o page.html`.";

const part = (id) => document.getElementById(id);
const progress = part("progress");

/** The parts of the build that every page needs: the text of the worker, and the compiled program. */
const built = build();

async function build() {
  const packed = part("program");
  if (packed) {
    const bytes = await inflated(packed.textContent);
    return { worker: part("worker").textContent, program: await WebAssembly.compile(bytes) };
  }
  const fetched = async (name) => {
    const response = await fetch(name);
    if (!response.ok) throw new Error(`${name} is missing: ${response.status}`);
    return response;
  };
  const [worker, program] = await Promise.all([facts.parts.worker, facts.parts.program].map(fetched));
  const parts = { worker: await worker.text(), program: await WebAssembly.compile(await program.arrayBuffer()) };
  // From here on, no connection at all.
  document.head.append(el("meta", { "http-equiv": "Content-Security-Policy", content: "connect-src 'none'" }));
  return parts;
}

/** The time for an answer, in milliseconds. */
const LIMIT = 120_000;

/** The open logs: their files and format. */
let opened = { files: [], format: "" };
let worker = null;
let opening = null;
const calls = new Map();
let lastCall = 0;

/** Calls an action of the worker, which is started where there is none. */
async function call(name, ...values) {
  const { program, worker: text } = await built;
  if (!worker) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.addEventListener("message", ({ data }) => heard(data));
    worker.addEventListener("error", (event) => end(`the program cannot run here: ${event.message}`));
    opening = sent("open", [program, opened.format, opened.files]);
  }
  await opening;
  // A schema in a log can make a query of it endless.
  const isLimited = ["ask", "check"].includes(name);
  const limit = isLimited && setTimeout(() => end(`it took more than ${LIMIT / 1000} s`), LIMIT);
  return sent(name, values).finally(() => clearTimeout(limit));
}

function sent(name, values) {
  const number = ++lastCall;
  worker.postMessage({ number, name, values });
  return new Promise((resolve, reject) => {
    calls.set(number, { resolve, reject });
    busy();
  });
}

function heard({ number, value, error, isEnd, read }) {
  if (read !== undefined) return busy(read);
  const { resolve, reject } = calls.get(number);
  calls.delete(number);
  if (error === undefined) resolve(value);
  else reject(new Error(error));
  if (isEnd) end(error);
  busy();
}

/** Ends the worker with all that it has to do. Another one starts with the next call. */
function end(reason) {
  worker?.terminate();
  worker = null;
  for (const { reject } of calls.values()) reject(new Error(reason));
  calls.clear();
  busy();
}

function busy(read) {
  part("stop").hidden = calls.size === 0;
  const all = opened.files.reduce((sum, { blob }) => sum + blob.size, 0);
  progress.textContent = !calls.size ? "" : read ? `Read ${bytes(Math.min(read, all))} of ${bytes(all)}…` : "Working…";
}

function failure(text) {
  part("failure").hidden = !text;
  part("failure").textContent = visible(text);
}

/** The source of the page: what the worker makes of the logs. */
async function workerSource() {
  const { bytes: page, notes } = await call("page", false, true);
  failure(notes.join("\n"));
  return documentSource(new DOMParser().parseFromString(new TextDecoder().decode(page), "text/html"));
}

/** Clears the form for queries, which begins with the first logs. */
let clear = null;

/** Opens logs in place of any other. */
async function openLogs(files) {
  end("other logs were opened");
  delete document.documentElement.dataset.open;
  delete document.documentElement.dataset.ready;
  failure("");
  const size = files.reduce((sum, { blob }) => sum + blob.size, 0);
  opened = { files, format: part("format").value };
  if (size > MOST_BYTES) return failure(`The logs have ${bytes(size)}, and this page reads ${bytes(MOST_BYTES)}. ${INSTALL}`);
  const mine = opened;
  try {
    const from = await workerSource();
    if (mine !== opened) return;
    // Messages and queries in the address are about other logs.
    if (clear) history.replaceState(null, "", location.pathname);
    document.documentElement.dataset.open = "yes";
    await load(from);
    if (clear) clear();
    else {
      clear = questions(askWorker);
      part("named").addEventListener("change", () => part("question").requestSubmit());
    }
    faultsOf("", "");
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    if (mine !== opened) return;
    delete document.documentElement.dataset.open;
    failure(error.message);
  }
}

/** Answers the form for queries as a server does. */
async function askWorker(query, accept, signal) {
  const ended = () => end("another query was asked");
  signal?.addEventListener("abort", ended);
  if (signal) part("tools").open = true;
  try {
    const { type, bytes: text } = await call("ask", query, accept);
    return new Response(text, { headers: { "Content-Type": type } });
  } catch (error) {
    return new Response(error.message, { status: 400 });
  } finally {
    signal?.removeEventListener("abort", ended);
  }
}

function save(data, name, type) {
  const url = URL.createObjectURL(new Blob([data], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function saveAs(extension, type) {
  const redacted = part("redacted").checked;
  try {
    const made = await (extension === "html" ? call("page", redacted, false) : call("graph", extension, redacted));
    save(made.bytes, `${redacted ? "redacted" : opened.files[0].name}.${extension}`, type);
    failure("");
  } catch (error) {
    failure(`Nothing was saved: ${error.message}`);
  }
}

/** Shows a verdict, and each fault with a link to its message. */
function faultsOf(summary, lines) {
  part("checked").textContent = summary;
  const faults = lines.split("\n").filter(Boolean).map(JSON.parse);
  const row = ({ level, rule, input, message, text }) =>
    el(
      "tr",
      {},
      el("td", {}, level),
      el("td", {}, message ? link({ open: `${input}#${message}` }, message) : ""),
      el("td", {}, visible(text)),
      el("td", {}, rule),
    );
  const broken = faults.filter(({ verdict }) => verdict === "failed").slice(0, 1000);
  const names = ["Level", "Message", "What is wrong", "Rule"].map((name) => el("th", { scope: "col" }, name));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...names)), el("tbody", {}, ...broken.map(row)));
  part("faults").replaceChildren(...(broken.length ? [table] : []));
}

async function check() {
  try {
    faultsOf(...(await call("check")));
    failure("");
  } catch (error) {
    failure(`The rules were not applied: ${error.message}`);
  }
}

const chosen = (files) => [...files].map((file) => ({ name: file.name, blob: file }));
const written = (name, text) => [{ name, blob: new Blob([text]) }];

part("format").append(...facts.formats.map((format) => el("option", {}, format)));
part("format").addEventListener("change", () => opened.files.length && openLogs(opened.files));
for (const [title, name, text] of facts.samples)
  part("samples").append(el("button", { type: "button", onclick: () => openLogs(written(name, text)) }, title));
part("files").addEventListener("change", ({ target }) => target.files.length && openLogs(chosen(target.files)));
part("read").addEventListener("click", () => openLogs(written("pasted", part("pasted").value)));
part("stop").addEventListener("click", () => end("it was stopped"));
part("check").addEventListener("click", check);
for (const [title, extension, type] of [
  ["The page", "html", "text/html"],
  ["Turtle", "ttl", "text/turtle"],
  ["N-Quads", "nq", "application/n-quads"],
])
  part("saves").append(" ", el("button", { type: "button", onclick: () => saveAs(extension, type) }, title));
for (const event of ["dragover", "dragleave", "drop"])
  document.addEventListener(event, (dragged) => {
    dragged.preventDefault();
    document.documentElement.classList.toggle("dropping", event === "dragover");
    if (event === "drop" && dragged.dataTransfer.files.length) openLogs(chosen(dragged.dataTransfer.files));
  });
if (state().has("query")) part("tools").open = true;
built.catch((error) => failure(`This browser cannot run the program: ${error.message}`));
