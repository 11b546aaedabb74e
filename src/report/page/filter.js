// The filter of the rows: words, tokens such as `tool:create_*`, and the choices beside them.

const FILTERS = ["q", "outcome", "sender", "session", "log"];

/** The text that a token with this field compares. */
const FIELDS = {
  method: methodOf,
  tool: (row) => (methodOf(row) === "tools/call" ? word("detail", callOf(row)) : ""),
  uri: (row) => (methodOf(row) === "tools/call" ? "" : word("detail", callOf(row))),
  id: (row) => word("id", row).replace(/^"(.*)"$/, "$1"),
  status: (row) => (index.kind[row] === KIND.text ? "" : outcomeOf(callOf(row))[0]),
  sender: (row) => SENDERS[index.sender[row]],
};

/** Parses what was typed. A text in quotes is exact; in other tokens, `*` stands for any text. */
function parseQuery(text) {
  const tokens = [];
  for (const [, name, quoted, plain] of text.matchAll(/(?:([a-z]+):)?(?:"((?:[^"\\]|\\.)*)"?|(\S+))/g)) {
    const isExact = quoted !== undefined;
    const value = isExact ? quoted.replace(/\\(.)/g, "$1") : plain;
    if (Object.hasOwn(FIELDS, name ?? "")) tokens.push({ field: name, value, isExact });
    else tokens.push({ value: name ? `${name}:${value}` : value, isExact });
  }
  return tokens.filter((token) => token.value);
}

/** The token that compares a field with exactly this text. */
const token = (field, value) => `${field}:${/^[^\s"*\\]+$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`}`;

/** Returns a test of a text: equal to the token, or like it. */
function comparison({ value, isExact }) {
  if (isExact) return (text) => text === value;
  const escaped = value.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*");
  const pattern = new RegExp(`^${escaped}$`, "is");
  return (text) => pattern.test(text);
}

/** Returns a test of a row for a word: in its texts of the index, or in those of its request or answer. */
function containing({ value, isExact }) {
  const folded = value.toLowerCase();
  const contains = (text) => (isExact ? text.includes(value) : text.toLowerCase().includes(folded));
  const hits = new Set(index.texts.flatMap((text, number) => (text && contains(text) ? [number] : [])));
  const has = (row) => ["method", "detail", "id", "error"].some((column) => hits.has(index[column][row]));
  return (row) => nameOf(row) === value || exchangeOf(row).some(has);
}

/** Returns the words of the filter, which are looked for in all texts. */
const wordsOf = (parts) =>
  parseQuery(parts.get("q") || "")
    .filter((one) => !one.field)
    .slice(0, MOST_WORDS);

/** Returns the rows that the filter in the address lets through; `found` has the words that each row's text has. */
function filtered(parts, found) {
  const words = wordsOf(parts);
  const tests = words.map((one, bit) => {
    const isInIndex = containing(one);
    return (row) => isInIndex(row) || (found && exchangeOf(row).some((other) => found[other] & (1 << bit)));
  });
  for (const one of parseQuery(parts.get("q") || "").filter((one) => one.field)) {
    const compare = comparison(one);
    tests.push((row) => compare(FIELDS[one.field](row)));
  }
  const [outcome, sender, session, log] = FILTERS.slice(1).map((name) => parts.get(name));
  if (sender) tests.push((row) => FIELDS.sender(row) === sender);
  if (session) tests.push((row) => word("session", row) === session);
  if (log) tests.push((row) => logName(logOf[row]) === log);
  if (outcome) tests.push((row) => FIELDS.status(row) === outcome);
  return rowsWhere((row) => tests.every((test) => test(row)));
}

function choices(id, all) {
  const select = document.getElementById(`filter-${id}`);
  select.replaceChildren(el("option", { value: "" }, "all"), ...all.map(([value, text]) => el("option", { value }, text ?? value)));
  return all.length;
}

/** Fills the choices with what the log has. */
function fillFilter() {
  choices("outcome", [
    ["failed"],
    ["cancelled"],
    ["unanswered", "no answer"],
    ["superseded", "no answer, id reused"],
    ["open", "no answer, log ended"],
    ["waiting"],
    ["ok", "answered"],
    ["unknown", "answer not in this log"],
    ["notification"],
    ["invalid", "not JSON-RPC"],
  ]);
  choices(
    "sender",
    SENDERS.map((name) => [name]),
  );
  const sessions = [...new Set(index.session)].filter(Boolean).slice(0, 1000);
  const count = choices(
    "session",
    sessions.map((number) => [index.texts[number]]),
  );
  document.getElementById("filter-session-label").hidden = count < 2;
  const logs = choices(
    "log",
    index.logs.map((_, number) => [logName(number)]),
  );
  document.getElementById("filter-log-label").hidden = logs < 2;
}

function listenToFilter() {
  for (const name of FILTERS) {
    let waiting;
    document.getElementById(`filter-${name}`).addEventListener("input", ({ target }) => {
      clearTimeout(waiting);
      if (name !== "q") return go({ [name]: target.value });
      // What is typed replaces the address, so that Back leaves the filter and not a letter.
      waiting = setTimeout(() => go({ q: target.value }, true), 120);
    });
  }
  document.getElementById("filter").addEventListener("submit", (event) => event.preventDefault());
}
