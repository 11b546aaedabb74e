// What is shown stands in the address, so that a view can be linked.

const VIEWS = ["waterfall", "sequence", "plots"];
const FILTERS = ["q", "outcome", "sender", "session", "log"];
const view = document.getElementById("view");
let drawn = null;

const state = () => new URLSearchParams(location.hash.slice(1));

/** The address with some of its parts changed; null takes one away. */
function address(changes) {
  const parts = state();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") parts.delete(name);
    else parts.set(name, value);
  }
  return `#${parts}`;
}

const go = (changes) => (location.hash = address(changes));

function choices(id, all) {
  const select = document.getElementById(id);
  select.append(el("option", { value: "" }, "all"), ...all.map(([value, text]) => el("option", { value }, text)));
}

function fillFilter() {
  choices("filter-outcome", [
    ["failed", "failed"],
    ["cancelled", "cancelled"],
    ["unanswered", "never answered"],
    ["open", "open at the end"],
    ["waiting", "waiting"],
    ["ok", "answered"],
    ["notification", "notification"],
    ["invalid", "no JSON-RPC"],
  ]);
  choices(
    "filter-sender",
    SENDERS.map((name, number) => [String(number), name]),
  );
  const sessions = [...new Set(index.session)].filter(Boolean);
  choices(
    "filter-session",
    sessions.slice(0, 1000).map((number) => [index.texts[number], index.texts[number]]),
  );
  document.getElementById("filter-session-label").hidden = sessions.length < 2;
  choices(
    "filter-log",
    index.logs.map((log, number) => [String(number + 1), `${number + 1}: ${log.name}`]),
  );
  document.getElementById("filter-log-label").hidden = index.logs.length < 2;
  for (const name of FILTERS) {
    document.getElementById(`filter-${name}`).addEventListener("input", (event) => go({ [name]: event.target.value }));
  }
  document.getElementById("filter").addEventListener("submit", (event) => event.preventDefault());
}

/** The rows that the filter lets through. */
function filtered(parts) {
  const wanted = (parts.get("q") || "").toLowerCase();
  const hits = wanted && new Set(index.texts.flatMap((text, number) => (text.toLowerCase().includes(wanted) ? [number] : [])));
  const [outcome, sender, session, log] = FILTERS.slice(1).map((name) => parts.get(name));
  const has = (row) => ["method", "detail", "id", "error"].some((column) => index[column][row] && hits.has(index[column][row]));
  return [...index.kind.keys()].filter((row) => {
    const call = callOf(row);
    if (sender && index.sender[row] !== Number(sender)) return false;
    if (session && word("session", row) !== session) return false;
    if (log && logOf[row] !== Number(log) - 1) return false;
    if (outcome && (index.kind[row] === KIND.text || outcomeOf(call)[0] !== outcome)) return false;
    return !wanted || has(row) || has(call) || (answer[call] >= 0 && has(answer[call])) || nameOf(row) === wanted;
  });
}

let rowOfName;

/** The row of a name, which the address has. */
function rowNamed(name) {
  rowOfName ||= new Map(Array.from(index.kind.keys(), (row) => [nameOf(row), row]).reverse());
  return rowOfName.get(name);
}

function draw() {
  const parts = state();
  const name = VIEWS.includes(parts.get("view")) ? parts.get("view") : VIEWS[0];
  const key = [name, ...FILTERS.map((filter) => parts.get(filter) || "")].join("\n");
  const opened = parts.get("open") && rowNamed(parts.get("open"));
  if (opened !== undefined && opened !== null && opened !== "") {
    if (opened !== shownRow) showMessage(opened).then(() => document.getElementById("message-title")?.focus());
  } else if (shownRow >= 0) {
    hideMessage();
    view.firstChild?.focusList?.();
  }
  if (key === drawn) {
    if (shownRow >= 0) view.firstChild?.select?.(name === "waterfall" ? callOf(shownRow) : shownRow);
    return;
  }
  drawn = key;
  for (const filter of FILTERS) {
    const input = document.getElementById(`filter-${filter}`);
    if (input.value !== (parts.get(filter) || "")) input.value = parts.get(filter) || "";
  }
  for (const one of VIEWS) {
    const tab = document.getElementById(`tab-${one}`);
    tab.setAttribute("aria-selected", String(one === name));
    tab.tabIndex = one === name ? 0 : -1;
  }
  view.setAttribute("aria-labelledby", `tab-${name}`);
  const rows = filtered(parts);
  const shown = name === "sequence" ? rows : name === "waterfall" ? rows.filter(isExchange) : rows;
  document.getElementById("filter-count").textContent = `${shown.length} of ${counted(index.kind.length, "row")}`;
  view.replaceChildren(name === "waterfall" ? waterfall(shown) : name === "sequence" ? sequence(shown) : plots(shown));
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
  document.addEventListener("keydown", (event) => event.key === "Escape" && shownRow >= 0 && go({ open: null }));
}

open()
  .then(() => {
    document.getElementById("ask").hidden = !facts.sessions;
    fillFilter();
    listen();
    draw();
    return overview();
  })
  .then(() => (document.documentElement.dataset.ready = "yes"))
  .catch((error) => (document.getElementById("verdict").textContent = `This page cannot be shown: ${error}`));
