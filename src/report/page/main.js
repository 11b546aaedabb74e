// What is shown stands in the address, so that a view can be linked.

const VIEWS = ["waterfall", "sequence", "plots"];
const view = document.getElementById("view");
let drawn = null;
/** A number of rows of which several lists take longer than a frame. */
const MANY = 20000;

/** Lets the browser draw a frame between lists of many rows. */
const pause = (rows) => (rows.length > MANY ? new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))) : null);

const state = () => new URLSearchParams(location.hash.slice(1));

/** The address with some of its parts changed; null takes one away. */
function address(changes) {
  const parts = state();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") parts.delete(name);
    else parts.set(name, value);
  }
  // An empty fragment would scroll to the top.
  return parts.size ? `#${parts}` : "#view=waterfall";
}

/** Changes the address. Where it is replaced, Back does not return to what it was. */
function go(changes, replaces) {
  if (!replaces) return (location.hash = address(changes));
  history.replaceState(null, "", address(changes));
  draw();
}

/** A link that changes parts of the address: of that at the time of the click, not of the drawing. */
function link(changes, ...children) {
  const anchor = el("a", { href: address(changes) }, ...children);
  for (const event of ["pointerdown", "click"]) anchor.addEventListener(event, () => (anchor.href = address(changes)));
  return anchor;
}

/** Where a query is asked: on this page, or on that of the server. */
const queryAddress = (query) => (facts.queries ? address({ query }) : `query#${new URLSearchParams({ query })}`);

const rowLink = (row) => link({ open: nameOf(row) }, `${nameOf(row)} ${visible(subjectOf(row))}`);

/** The row of a name or, on a server, of an IRI, which the address has. */
function rowNamed(text) {
  if (!text) return undefined;
  const log = (facts.sessions ?? []).findIndex((session) => text.startsWith(`${session}#`));
  const own = log < 0 ? text : text.slice(facts.sessions[log].length + 1);
  const name = log >= 0 && index.logs.length > 1 ? `${log + 1}:${own}` : own;
  const number = Number(/[lm](\d+)/.exec(name)?.[1]);
  const row = index.kind.findIndex((_, row) => (index.record[row] === number || index.line[row] === number) && nameOf(row) === name);
  return row < 0 ? undefined : row;
}

function draw() {
  if (!index) return;
  const parts = state();
  const opened = rowNamed(parts.get("open"));
  if (opened === undefined && shownRow >= 0) {
    hideMessage();
    view.firstChild?.focusList?.();
  } else if (opened !== undefined && opened !== shownRow) showMessage(opened);
  const name = VIEWS.includes(parts.get("view")) ? parts.get("view") : VIEWS[0];
  const key = [name, ...[...FILTERS, "sort", "group"].map((part) => parts.get(part))].join("\n");
  if (key === drawn) return view.firstChild?.select?.();
  drawn = key;
  for (const filter of FILTERS) {
    const input = document.getElementById(`filter-${filter}`);
    if (input && input.value !== (parts.get(filter) || "")) input.value = parts.get(filter) || "";
  }
  for (const one of VIEWS) {
    const tab = document.getElementById(`tab-${one}`);
    tab.setAttribute("aria-selected", String(one === name));
    tab.tabIndex = one === name ? 0 : -1;
  }
  view.setAttribute("aria-labelledby", `tab-${name}`);
  const words = wordsOf(parts);
  show(name, filtered(parts), parts, words.length ? ", searching…" : "");
  if (parts.get("open") && opened === undefined)
    document.getElementById("remark").textContent = visible(`There is no message ${parts.get("open")} in this page.`);
  if (words.length) {
    searchTexts(words).then((found) => {
      if (drawn === key) show(name, filtered(parts, found), parts, found ? "" : ": this browser does not search the texts");
    });
  }
}

/** Shows rows in a view and in the side column, and how many calls they are. */
function show(name, all, parts, remark) {
  const key = drawn;
  showFilter(parts, all);
  showSide(all, () => drawn === key);
  const rows = withOutcome(all, parts.get("outcome"));
  const { sort, group } = view.contains(document.activeElement) ? document.activeElement.dataset : {};
  const made = { waterfall, sequence, plots }[name](name === "waterfall" ? rows.filter(isExchange) : rows);
  view.replaceChildren(made);
  const total = rowsWhere(isRequest).length;
  const calls = new Set(rows.map(callOf).filter(isRequest)).size;
  const others = calls ? 0 : rows.filter((row) => index.kind[row] !== KIND.text).length;
  document.getElementById("filter-count").textContent = [
    calls < total ? `${thousands(calls)} of ${counted(total, "call")}` : counted(total, "call"),
    others && `, ${counted(others, "other message")}`,
    remark,
  ]
    .filter(Boolean)
    .join("");
  made.select?.(true);
  if (sort || group) made.querySelector(sort ? `[data-sort=${sort}]` : `[data-group=${group}]`)?.focus();
}

/** Handles the keys that work anywhere on the page. */
function pressed(event) {
  if (event.key === "Escape" && shownRow >= 0) return go({ open: null });
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const places = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "/") document.getElementById("filter-q").focus();
  // Arrows scroll the text of a message that has the focus.
  else if (places && shownRow >= 0 && view.firstChild.step && !(event.key.length > 1 && event.target.closest("[role=region]")))
    view.firstChild.step(places);
  else return;
  event.preventDefault();
}

function listen() {
  window.addEventListener("hashchange", draw);
  const tabs = VIEWS.map((name) => document.getElementById(`tab-${name}`));
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => go({ view: VIEWS[place] }));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (place + step + VIEWS.length) % VIEWS.length;
      go({ view: VIEWS[next] });
      tabs[next].focus();
    });
  });
  document.addEventListener("keydown", pressed);
  document.getElementById("again").addEventListener("click", async () => {
    try {
      await load(await serverSource());
    } catch (error) {
      document.getElementById("remark").textContent = `The server does not answer: ${error.message}`;
    }
  });
}

/** Shows the data of a source in place of any other. */
async function load(from) {
  reset();
  await open(from);
  document.getElementById("ask").hidden = !facts.sessions;
  document.title = facts.title;
  if (source.front.ownerDocument !== document) document.getElementById("front").replaceWith(document.adoptNode(source.front));
  for (const one of document.querySelectorAll("#verdict [data-to]")) one.replaceWith(el("a", { href: one.dataset.to }, one.textContent));
  listenToStrip();
  draw();
  await notes();
}

listenToFilter();
listen();
// A page without data opens logs itself (`web/`).
if (document.getElementById("index"))
  load(documentSource(document))
    .then(() => (document.documentElement.dataset.ready = "yes"))
    .catch((error) => {
      for (const id of ["filter", "split"]) document.getElementById(id).hidden = true;
      document.getElementById("remark").textContent = `This browser cannot show the list: ${error.message}`;
    });
