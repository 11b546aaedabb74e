// The panel that shows a message together with its request or answer.

const panel = document.getElementById("message");
let shownRow = -1;

async function showMessage(row) {
  const wasOpen = shownRow >= 0;
  shownRow = row;
  const title = el("h2", { id: "message-title", tabindex: "-1" }, visible(`${nameOf(row)} ${subjectOf(row)}`));
  const close = el("button", { type: "button", onclick: () => go({ open: null }) }, "Close");
  const error = exchangeOf(row).find(isFailure);
  const failure = error === undefined ? "" : word("error", error);
  const alarm = el("p", { class: "alarm" }, visible(`✗ ${failure}`));
  alarm.hidden = error === undefined;
  panel.replaceChildren(el("header", {}, title, close), alarm, factsOf(row), el("p", { class: "faint" }, "Opening…"));
  panel.hidden = false;
  panel.scrollTop = 0;
  if (!wasOpen) title.focus({ preventScroll: true });
  const rows = exchangeOf(row);
  const [texts, lines] = await Promise.all([textOf, lineOf].map((of) => Promise.all(rows.map(of))));
  if (shownRow !== row) return;
  const messages = rows.map((one, place) => ({ ...messageOf(one, texts[place]), line: lines[place] }));
  const place = rows.indexOf(error);
  if (place >= 0) alarm.textContent = visible(`✗ ${failureText(messages[place].tree) || failure}`);
  panel.lastChild.replaceWith(...content(messages, row));
}

function factsOf(row) {
  const kind = index.kind[row];
  const list = el("dl");
  const fact = (name, ...value) => list.append(el("div", {}, el("dt", {}, name), el("dd", {}, ...value)));
  fact("kind", KINDS[kind]);
  if (kind !== KIND.text) fact("sender", SENDERS[index.sender[row]]);
  if (index.time[row] !== null) fact("time", clock(row, true));
  if (word("id", row)) fact("id", visible(word("id", row)));
  const end = answer[callOf(row)] >= 0 ? answer[callOf(row)] : row;
  if (index.latency[end] !== null) fact("took", duration(index.latency[end]));
  if (word("session", row)) fact("session", visible(word("session", row)));
  fact("line", String(index.line[row]));
  if (index.length[row]) fact("size", bytes(index.length[row]));
  const problems = index.problem_names.filter((_, bit) => index.problems[row] & (1 << bit));
  if (problems.length) fact("problems", problems.join(", "));
  if (index.answers[row] !== null) fact("answers", rowLink(index.answers[row]));
  if (answer[row] >= 0) fact("answer", rowLink(answer[row]));
  else if (stateOf(row)) fact("answer", el("span", { class: "open" }, `none: ${STATE_WORDS[index.state[row]]}`));
  if (endedBy[row] >= 0) fact("ended by", rowLink(endedBy[row]));
  if (facts.sessions && kind !== KIND.text) {
    const query = `DESCRIBE <${facts.sessions[logOf[row]]}#${nameOf(row).split(":").pop()}>`;
    fact("triples", el("a", { href: queryAddress(query) }, "ask for them"));
  }
  return list;
}

const absent = () => "Its text is not in this page, which would be too large: make it with --full.";

/** A message as a tree and the text that the places of the tree are in; of a batch, the member. */
function messageOf(row, text) {
  if (text === null) return { row, text: null };
  let tree = index.kind[row] >= KIND.malformed ? null : parseTree(text);
  const place = placeInBatch(row);
  if (tree?.items?.[place - 1]) tree = tree.items[place - 1];
  tree ??= { kind: "text", text, start: 0, end: text.length, size: 1 };
  return { row, text, tree };
}

/** The whole text of a failure: the message of an error, or the texts of a tool's result. */
function failureText(tree) {
  const member = (value, name) => value?.members?.find(([key]) => key === name)?.[1];
  const error = member(member(tree, "error"), "message")?.text;
  const items = member(member(tree, "result"), "content")?.items ?? [];
  const texts = items.map((item) => member(item, "text")?.text).filter(Boolean);
  const code = member(member(tree, "error"), "code")?.raw;
  return error ? [code, error].filter(Boolean).join(" ") : texts.join("\n");
}

/** The messages of an exchange, with what copies from them and what searches in them. */
function content(messages, row) {
  const known = messages.filter((one) => one.text !== null);
  const said = el("output", {});
  let [current, found, at] = [null, [], -1];
  const choose = (one, element) => {
    panel.querySelectorAll(".current").forEach((old) => old.classList.remove("current"));
    current = { one, path: element.path };
    (element.matches("details") ? element.firstChild : element).classList.add("current");
  };
  const sections = messages.map((one) => {
    const label = `${nameOf(one.row)} ${KINDS[index.kind[one.row]]}`;
    const view = el("div", { class: "tree mono", tabindex: "0", role: "region", "aria-label": label });
    if (one.text === null) return el("section", {}, el("h3", {}, label), el("p", {}, absent()));
    one.view = treeView(one.tree, null, []);
    const chosen = ({ target }) => target.closest(".leaf, details") && choose(one, target.closest(".leaf, details"));
    view.addEventListener("click", chosen);
    view.addEventListener("focusin", (event) => event.target !== view && chosen(event));
    view.append(one.view);
    const raw = one.line && el("details", { class: "raw" }, el("summary", {}, `Line ${index.line[one.row]} of the log`));
    raw?.append(el("pre", {}, visible(one.line)));
    return el("section", {}, el("h3", {}, label), view, raw);
  });
  const copy = async (what) => {
    const { one, path } = current ?? { one: known.find((one) => one.row === row) ?? known[0], path: [] };
    const { key, value, keys } = valueAt(one.tree, path);
    const raw = one.text.slice(value.start, value.end);
    const texts = {
      value: () => value.text ?? raw,
      path: () => keys.map((name) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
      member: () => (typeof key === "string" ? `${JSON.stringify(key)}: ${raw}` : raw),
      message: () => one.text.slice(one.tree.start, one.tree.end),
      line: () => one.line ?? one.text,
      link: () => location.href,
      curl: () => {
        const body = one.text.slice(one.tree.start, one.tree.end).replaceAll("'", String.raw`'\''`);
        return `curl URL -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '${body}'`;
      },
    };
    try {
      await navigator.clipboard.writeText(texts[what]());
      said.textContent = `copied the ${what}`;
    } catch {
      said.textContent = "the browser does not let this page copy";
    }
  };
  const search = el("input", { type: "search", id: "message-search" });
  const show = (step) => {
    panel.querySelectorAll(".found").forEach((old) => old.classList.remove("found"));
    CSS.highlights?.delete("found");
    if (!found.length) return (said.textContent = search.value ? "0 places" : "");
    at = (at + step + found.length) % found.length;
    const [one, path] = found[at];
    choose(one, reveal(one.view, path, search.value.toLowerCase()));
    said.textContent = `${at + 1} of ${counted(found.length, "place")}`;
  };
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    found = wanted ? known.flatMap((one) => placesOf(one.tree, wanted, null, [], []).map((path) => [one, path])) : [];
    at = -1;
    show(1);
  });
  const button = (text, act) => el("button", { type: "button", onclick: act }, text);
  const tools = el(
    "form",
    { onsubmit: (event) => (event.preventDefault(), show(1)) },
    el("label", {}, "Find in it ", search),
    button("Next", () => show(1)),
    button("Previous", () => show(-1)),
    el(
      "span",
      { role: "group", "aria-label": "Copy" },
      "Copy ",
      ...["value", "path", "member", "message", "line", "link", "curl"].map((what) => button(what, () => copy(what))),
    ),
    said,
  );
  return known.length ? [tools, ...sections] : sections;
}

function hideMessage() {
  shownRow = -1;
  panel.hidden = true;
  panel.replaceChildren();
}
