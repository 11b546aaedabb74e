// Asks the server, and shows what it answers. Whatever that is, it is text here.

const MOST_ROWS = 1000;
const MOST_TEXT = 256 * 1024;

const text = document.getElementById("text");
const said = document.getElementById("said");
const shown = document.getElementById("answer");
const downloads = document.getElementById("downloads");
const paint = edit(text, document.getElementById("colours"), document.getElementById("terms"));
let running = new AbortController();
/** The query of the last answer. */
let asked = null;

/** The address with a part changed; with only that part, if the logs are on another page. */
function changed(name, value) {
  const parts = new URLSearchParams(facts.logs ? "" : location.hash.slice(1));
  parts.set(name, value);
  return `#${parts}`;
}

/** A term of a row: of a literal its text, of an IRI its name. The name of a message is a link to it. */
function plain(term) {
  const literal = term.match(/^"((?:[^"\\]|\\.)*)"/s);
  if (!literal) {
    const iri = /^<(.*)>$/s.exec(term)?.[1];
    if (iri === undefined) return term;
    const isMessage = /#m\d+(\.\d+)?$/.test(iri);
    return isMessage ? el("a", { href: facts.logs + changed("open", iri) }, iri.replace(/^.*[/:]/s, "")) : shortened(iri);
  }
  const escaped = { t: "\t", n: "\n", r: "\r" };
  return literal[1].replace(/\\(.)/gs, (_, character) => escaped[character] || character);
}

/** Reads an answer until it ends or `take`, which is given its text so far, has enough; returns true if it ended. */
async function received(response, take) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let all = "";
  for (;;) {
    const { done, value } = await reader.read();
    all += decoder.decode(value, { stream: !done });
    all = take(all, done);
    if (done) return true;
    if (all === null) {
      reader.cancel();
      return false;
    }
  }
}

async function rows(response) {
  const body = el("tbody");
  const table = el("table", {}, body);
  let count = 0;
  const ended = await received(response, (all, done) => {
    const lines = all.split("\n");
    const rest = lines.pop();
    for (const line of lines) {
      if (line === "true" || line === "false") {
        body.append(el("tr", {}, el("td", {}, line === "true" ? "yes" : "no")));
        continue;
      }
      const cells = line.split("\t");
      if (!table.tHead) {
        table.prepend(el("thead", {}, el("tr", {}, ...cells.map((name) => el("th", { scope: "col" }, name.replace(/^\?/, ""))))));
        continue;
      }
      if (count === MOST_ROWS) return null;
      body.append(el("tr", {}, ...cells.map((term) => el("td", { title: term }, plain(term)))));
      count++;
    }
    return done ? "" : rest;
  });
  shown.replaceChildren(table);
  if (!table.tHead) return body.textContent;
  return ended ? counted(count, "row") : `The first ${counted(count, "row")}; there are more.`;
}

async function graph(response) {
  const pre = el("pre");
  const ended = await received(response, (all) => {
    pre.textContent = all.slice(0, MOST_TEXT);
    return all.length > MOST_TEXT ? null : all;
  });
  pre.replaceChildren(...coloured(pre.textContent));
  shown.replaceChildren(pre);
  return ended ? "" : "The beginning of a graph that is longer.";
}

const FORMATS = {
  csv: ["CSV", "text/csv", "csv"],
  json: ["JSON", "application/sparql-results+json", "json"],
  turtle: ["Turtle", "text/turtle", "ttl"],
  jsonld: ["JSON-LD", "application/ld+json", "jsonld"],
};

/** Asks again, for all of the answer in a format, and saves it. */
async function download(query, type, end) {
  try {
    const response = await askServer(query, type);
    if (!response.ok) throw new Error(await response.text());
    const url = URL.createObjectURL(await response.blob());
    el("a", { href: url, download: `answer.${end}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  } catch (error) {
    said.textContent = `The answer did not arrive: ${error.message}`;
  }
}

async function ask() {
  running.abort();
  running = new AbortController();
  const mine = running;
  said.textContent = "Asking…";
  shown.replaceChildren();
  downloads.replaceChildren();
  const query = text.value;
  asked = query;
  const began = performance.now();
  try {
    const response = await askServer(query, "text/tab-separated-values, text/turtle", mine.signal);
    if (!response.ok) {
      shown.replaceChildren(el("pre", { class: "failed" }, await response.text()));
      said.textContent = "There is no answer:";
      return;
    }
    const isGraph = response.headers.get("Content-Type").startsWith("text/turtle");
    const formats = isGraph ? [FORMATS.turtle, FORMATS.jsonld] : [FORMATS.csv, FORMATS.json];
    downloads.replaceChildren(
      "Download ",
      ...formats.map(([name, type, end]) => el("button", { type: "button", onclick: () => download(query, type, end) }, name)),
    );
    const found = await (isGraph ? graph(response) : rows(response));
    said.textContent = [found, `after ${duration((performance.now() - began) / 1000)}`].filter(Boolean).join(", ");
  } catch (error) {
    if (mine === running) said.textContent = `The answer did not arrive, or ended too early: ${error.message}`;
  }
}

/** Asks what the address says. */
function follow() {
  const query = new URLSearchParams(location.hash.slice(1)).get("query");
  if (query === null || query === asked) return;
  text.value = query;
  paint();
  ask();
}

function submit() {
  const hash = changed("query", text.value);
  asked = null;
  if (hash === location.hash) ask();
  else location.hash = hash;
}

const named = document.getElementById("named");
named.append(...facts.queries.map(({ name, title }) => el("option", { value: name }, `${name}: ${title}`)));
named.addEventListener("change", () => {
  const query = facts.queries.find(({ name }) => name === named.value);
  if (query) text.value = query.text;
  paint();
  // The query begins at the top, below the comment that describes it.
  text.scrollTop = document.querySelector("#colours .token-word")?.offsetTop ?? 0;
});
document.getElementById("prefixes").append(...facts.prefixes.map(([prefix, iri]) => el("li", {}, `${prefix}: <${iri}>`)));
document.getElementById("question").addEventListener("submit", (event) => (event.preventDefault(), submit()));
text.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit());
window.addEventListener("hashchange", follow);
text.value = "SELECT * { ?request a jrpc:Request ; jrpc:hasMethod ?method }\nLIMIT 100";
paint();
follow();
document.documentElement.dataset.ready = "yes";
