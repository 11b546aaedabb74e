// The filter of the rows: words, tokens such as `tool:create_*`, and the choices beside them.

const FILTERS = ["q", "outcome", "method", "tool", "connection", "log", "from", "to"];
/** The chips: name, outcome in the address, and test of a call. */
const SLOW = 1;
const isSilent = (row) => ["unanswered", "lost", "superseded", "open"].includes(statusOf(row));
const CHIPS = [
  ["Failed", "failed", (row) => statusOf(row) === "failed"],
  ["No answer", "unanswered", isSilent],
  ["Cancelled", "cancelled", (row) => statusOf(row) === "cancelled"],
  ["Slow", "slow", (row) => tookOf(row) > SLOW],
];

/** The text of a failure without numbers and quoted words, which differ between failures of one cause. */
const causeOf = (row) => {
  const end = answer[callOf(row)] >= 0 ? answer[callOf(row)] : endedBy[callOf(row)] >= 0 ? endedBy[callOf(row)] : row;
  if (!isFailure(end)) return "";
  return reasonOf(word("error", end))
    .replace(/"[^"]*"?|`[^`]*`?/g, "…")
    .replace(/\b(0x)?(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{4,}\b/gi, "0")
    .replace(/\d+/g, "0");
};

/** The text that a token with this field compares. */
const FIELDS = {
  method: methodOf,
  tool: toolOf,
  uri: (row) => (toolOf(row) ? "" : word("detail", callOf(row))),
  id: (row) => word("id", row).replace(/^"(.*)"$/, "$1"),
  status: (row) => (index.kind[row] === KIND.text ? "" : statusOf(callOf(row))),
  sender: (row) => SENDERS[index.sender[row]],
  session: (row) => [word("session", row), connectionOf(row)?.label, connectionOf(row)?.name].map((name) => name ?? ""),
  cause: causeOf,
  took: (row) => tookOf(callOf(row)),
};

/** Seconds by the unit behind them, and a duration: `>1s`, `<=250ms`. */
const UNITS = { ms: 1e-3, s: 1, "": 1, min: 60, h: 3600 };
const DURATION = /^([<>]?=?)(\d+\.?\d*|\.\d+)(ms|s|min|h|)$/;
/** Whether one number stands to another as a sign says; a number without a sign is the least. */
const RELATIONS = {
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  "=": (one, other) => one === other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
  "": (one, other) => one >= other,
};

/** Parses what was typed. A text in quotes is exact; in other tokens, `*` stands for any text; `-` before a token excludes. */
function parseQuery(text) {
  const tokens = [];
  for (const [, minus, name, quoted, plain] of text.matchAll(/(-?)(?:([a-z]+):)?(?:"((?:[^"\\]|\\.)*)"?|(\S+))/g)) {
    const isExact = quoted !== undefined;
    const value = isExact ? quoted.replace(/\\(.)/g, "$1") : plain;
    const isField = Object.hasOwn(FIELDS, name ?? "");
    const isUnknown = (name && !isField && !value.startsWith("//")) || (name === "took" && !DURATION.test(value));
    tokens.push({
      field: isField ? name : "",
      value: name && !isField ? `${name}:${value}` : value,
      isExact,
      excludes: minus === "-",
      isUnknown,
    });
  }
  return tokens.filter((token) => token.value);
}

/** The token that compares a field with exactly this text. */
const token = (field, value) => `${field}:${/^[^\s"*\\]+$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`}`;

/** Returns a test of a text: equal to the token, or like it; of a number, more or less than it. */
function comparison({ field, value, isExact }) {
  if (field === "took") {
    const [, sign, number, unit] = DURATION.exec(value) ?? [];
    const bound = Number(number) * UNITS[unit];
    return (seconds) => seconds !== null && RELATIONS[sign]?.(seconds, bound);
  }
  if (isExact) return (text) => text === value;
  const escaped = value.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*");
  const pattern = new RegExp(`^${escaped}$`, "is");
  return (text) => pattern.test(text);
}

/** Returns a test of a row for a word: in its texts of the index, or in those of its request or answer. */
function containing({ value, isExact }) {
  const folded = value.toLowerCase();
  const contains = (text) => (isExact ? text.includes(value) : text.toLowerCase().includes(folded));
  const hits = Uint8Array.from(index.texts, (text) => text !== "" && contains(text));
  const { method, detail, id, error } = index;
  const has = (row) => hits[method[row]] || hits[detail[row]] || hits[id[row]] || hits[error[row]];
  const isName = /^(\d+:)?[lm]\d+(\.\d+)?$/.test(value);
  return (row) => eitherOf(row, has) || (isName && nameOf(row) === value);
}

/** Returns the words of the filter, which are looked for in all texts. */
const wordsOf = (parts) =>
  parseQuery(parts.get("q") || "")
    .filter((one) => !one.field && !one.excludes)
    .slice(0, MOST_WORDS);

/** Returns the rows that the filter in the address lets through, of any outcome; `found` has the words that each row's text has. */
function filtered(parts, found) {
  const words = wordsOf(parts);
  const tests = words.map((one, bit) => {
    const isInIndex = containing(one);
    return (row) => isInIndex(row) || (found && eitherOf(row, (other) => found[other] & (1 << bit)));
  });
  for (const one of parseQuery(parts.get("q") || "").filter((one) => one.field || one.excludes)) {
    const compare = one.field && comparison(one);
    const test = one.field ? (row) => [FIELDS[one.field](row)].flat().some(compare) : containing(one);
    tests.push((row) => test(row) !== one.excludes);
  }
  const equal = { method: methodOf, tool: toolOf, connection: (row) => connectionOf(row)?.name, log: (row) => logName(logOf[row]) };
  for (const [name, of] of Object.entries(equal)) {
    const value = parts.get(name);
    if (value) tests.push((row) => of(row) === value);
  }
  const span = spanOf(parts);
  if (span) tests.push((row) => isWithin(span, timeOf(callOf(row))));
  return rowsWhere((row) => tests.every((test) => test(row)));
}

/** The span of time in the address, or null. */
function spanOf(parts) {
  const [from, to] = ["from", "to"].map((name) => Number.parseFloat(parts.get(name)));
  return to > from ? [from, to] : null;
}

/** A span has its first time and not its last, except at the end of the log. */
const isWithin = ([from, to], time) => time !== null && time >= from && (time < to || (time === to && to >= bounds[1]));

/** Of the rows, those with an outcome of the address. */
function withOutcome(rows, outcome) {
  if (!outcome) return rows;
  const test = CHIPS.find(([, name]) => name === outcome)?.[2] ?? ((row) => statusOf(row) === outcome);
  return rows.filter((row) => index.kind[row] !== KIND.text && test(callOf(row)));
}

/** Shows the numbers of the chips, which are of all outcomes, and the chosen span. */
function showFilter(parts, rows) {
  const calls = rows.filter(isRequest);
  const outcome = parts.get("outcome");
  const chips = CHIPS.map(([name, value, test]) => {
    const act = () => go({ outcome: outcome === value ? null : value });
    const count = thousands(calls.filter(test).length);
    const title = value === "slow" ? `more than ${SLOW} s` : null;
    return el("button", { type: "button", "aria-pressed": String(outcome === value), title, onclick: act }, `${name} `, el("b", {}, count));
  });
  const place = [...document.getElementById("chips").children].indexOf(document.activeElement);
  document.getElementById("chips").replaceChildren(...chips);
  if (place >= 0) chips[place].focus();
  const span = spanOf(parts);
  fillMenus(span);
  const chip = document.getElementById("span");
  chip.hidden = !span;
  if (span) chip.textContent = `${span.map((time) => clockTime(time, areDays)).join("–")} ×`;
  const unknown = parseQuery(parts.get("q") || "").find((one) => one.isUnknown);
  const words = Object.keys(FIELDS).map((name) => `${name}:`);
  const none = withOutcome(rows, outcome).length ? "" : "Nothing matches.";
  const reason = unknown?.field
    ? `${unknown.value} is not a time that a call took; one is ${unknown.field}:>1s`
    : unknown && `${unknown.value.split(":")[0]}: is not a word of the search; these are: ${words.join(" ")}`;
  document.getElementById("remark").textContent = visible(reason ?? none);
  drawSpan(span);
}

/** Fills a menu with the values of all rows and the number of their calls in the span; hides it if there is only one. */
function choices(id, rows, span, of) {
  const counts = new Map();
  for (const row of rows) {
    const value = of(row);
    if (value) counts.set(value, (counts.get(value) ?? 0) + (isRequest(row) && (!span || isWithin(span, timeOf(row)))));
  }
  const all = [...counts].sort((one, other) => other[1] - one[1]).slice(0, 1000);
  const select = document.getElementById(`filter-${id}`);
  const name = select.getAttribute("aria-label");
  select.replaceChildren(
    el("option", { value: "" }, name),
    ...all.map(([value, count]) => el("option", { value }, visible(count ? `${value} (${thousands(count)})` : value))),
  );
  select.value = state().get(id) ?? "";
  select.hidden = all.length < 2;
}

/** The span whose calls the menus count. */
let menusOf;

/** Fills the menus with what the log has, unless they have it. */
function fillMenus(span) {
  if (menusOf === String(span)) return;
  menusOf = String(span);
  const calls = rowsWhere(isCall);
  choices("method", calls, span, methodOf);
  choices("tool", calls, span, toolOf);
  choices("connection", calls, span, (row) => connectionOf(row)?.name);
  choices("log", calls, span, (row) => index.logs.length > 1 && logName(logOf[row]));
}

function listenToFilter() {
  for (const name of FILTERS.slice(0, 6).filter((name) => name !== "outcome")) {
    let waiting;
    document.getElementById(`filter-${name}`).addEventListener("input", ({ target }) => {
      clearTimeout(waiting);
      if (name !== "q") return go({ [name]: target.value });
      // What is typed replaces the address, so that Back leaves the filter and not a letter.
      waiting = setTimeout(() => go({ q: target.value }, true), 120);
    });
  }
  document.getElementById("span").addEventListener("click", () => go({ from: null, to: null }));
  document.getElementById("filter").addEventListener("submit", (event) => event.preventDefault());
}
