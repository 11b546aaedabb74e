// The panel that shows a message.

const panel = document.getElementById("message");
let shownRow = -1;

async function showMessage(row) {
  shownRow = row;
  const kind = index.kind[row];
  const title = el("h3", { id: "message-title", tabindex: "-1" }, `${nameOf(row)} ${subjectOf(row)}`);
  const close = el("button", { type: "button", onclick: () => go({ open: null }) }, "Close");
  const list = el("dl");
  const fact = (name, ...value) => list.append(el("div", {}, el("dt", {}, name), el("dd", {}, ...value)));
  fact("kind", KINDS[kind]);
  if (kind !== KIND.text) fact("sender", SENDERS[index.sender[row]]);
  if (index.time[row] !== null) fact("time", clock(row, true));
  if (word("id", row)) fact("id", word("id", row));
  if (isFailure(row)) fact("failure", el("span", { class: "failed" }, word("error", row)));
  if (index.latency[row] !== null) fact("after", duration(index.latency[row]));
  if (word("session", row)) fact("session", word("session", row));
  fact("line", String(index.line[row]));
  if (index.length[row]) fact("size", bytes(index.length[row]));
  const problems = index.problem_names.filter((_, bit) => index.problems[row] & (1 << bit));
  if (problems.length) fact("problems", problems.join(", "));
  if (index.answers[row] !== null) fact("answers", link(index.answers[row]));
  if (kind === KIND.request)
    fact("answer", answer[row] < 0 ? el("span", { class: "open" }, `none: ${STATE_WORDS[index.state[row]]}`) : link(answer[row]));
  if (facts.sessions && kind !== KIND.text) {
    const query = `DESCRIBE <${facts.sessions[logOf[row]]}#${nameOf(row).split(":").pop()}>`;
    fact("triples", el("a", { href: `query#${new URLSearchParams({ q: query })}` }, "ask for them"));
  }
  panel.replaceChildren(el("header", {}, title, close), list, el("p", { class: "faint" }, "Opening…"));
  panel.hidden = false;
  const text = await textOf(row);
  if (shownRow !== row) return;
  panel.lastChild.replaceWith(...(text === null ? [el("p", {}, absent(row))] : body(row, text)));
}

const absent = () =>
  facts.redacted
    ? "Its text was taken out: the page is redacted."
    : "Its text is not in this page, which would be too large: make it with --full.";

function link(row) {
  return el("a", { href: address({ open: nameOf(row) }) }, `${nameOf(row)} ${subjectOf(row)}`);
}

function body(row, text) {
  let tree = index.kind[row] >= KIND.malformed ? null : parseTree(text);
  if (tree && placeInBatch(row) && tree.kind === "array") tree = tree.items[placeInBatch(row) - 1] || tree;
  const said = el("output", {});
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "copied";
    } catch {
      said.textContent = "the browser does not let this page copy";
    }
  };
  const view = el("div", { class: "tree mono", tabindex: "0", role: "region", "aria-label": "Text of the message" });
  view.append(tree ? treeView(tree, null, 0) : visible(text.slice(0, 10 * SHOWN_TEXT)));
  const search = el("input", { type: "search", id: "message-search" });
  search.addEventListener("input", () => (said.textContent = find(view, search.value)));
  const tools = el(
    "form",
    { onsubmit: (event) => event.preventDefault() },
    el("label", {}, "Find in it ", search),
    el("button", { type: "button", onclick: copy }, "Copy"),
    said,
  );
  return [tools, view];
}

/** Marks what has the text in it, opened as far as needed; tells how often it is there. */
function find(view, text) {
  view.querySelectorAll(".found").forEach((found) => found.classList.remove("found"));
  if (!text) return "";
  const folded = view.querySelectorAll("details");
  folded.forEach((details) => details.fill?.());
  const wanted = text.toLowerCase();
  let count = 0;
  for (const leaf of view.querySelectorAll(".leaf, summary")) {
    if (!leaf.textContent.toLowerCase().includes(wanted)) continue;
    leaf.classList.add("found");
    for (let up = leaf.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
    if (count++ === 0) leaf.scrollIntoView({ block: "nearest" });
  }
  return counted(count, "place");
}

function hideMessage() {
  shownRow = -1;
  panel.hidden = true;
  panel.replaceChildren();
}
