// The first screen: a verdict in sentences, and lists of the rows that it is about.

const LISTED = 3;

const hasProblem = (name) => {
  const bit = 1 << index.problem_names.indexOf(name);
  return (row) => index.problems[row] & bit;
};

/** A link of the overview, which is about all rows: it clears the filter and scrolls to the list. */
function toList(changes, ...children) {
  const cleared = Object.fromEntries([...FILTERS, "from", "to"].map((name) => [name, null]));
  const anchor = link({ ...cleared, ...changes }, ...children);
  anchor.addEventListener("click", () => document.getElementById("messages").scrollIntoView());
  return anchor;
}

const toRow = (row) => toList({ open: nameOf(row) }, `${nameOf(row)} ${visible(subjectOf(row))}`);

async function overview() {
  const failures = rowsWhere(isFailure);
  const hanging = rowsWhere((row) => stateOf(row));
  const slowest = rowsWhere((row) => index.latency[row] !== null).sort((one, other) => index.latency[other] - index.latency[one]);
  const inState = (state) => hanging.filter((row) => stateOf(row) === state);
  document.title = facts.title;
  document.getElementById("title").textContent = facts.title;
  document.getElementById("verdict").replaceChildren(...verdict(failures, inState));
  await notes(hanging.length > 0);
  totals(failures, inState);
  logs(failures, inState("unanswered"));
  document.getElementById("lists").replaceChildren();
  failedAlike(failures);
  for (const state of ["unanswered", "superseded", "open", "cancelled", "waiting"]) {
    const title = STATE_WORDS[STATES.indexOf(state)];
    list(title[0].toUpperCase() + title.slice(1), inState(state), toRow, clock, { outcome: state });
  }
  if (facts.verdicts) conformance(facts.verdicts);
  list("Slowest", slowest, toRow, (row) => duration(index.latency[row]));
  const timed = byMethod().filter((one) => one.latencies.length);
  for (const one of timed) {
    one.latencies.sort((low, high) => low - high);
    one.p95 = percentile(one.latencies, 0.95);
  }
  timed.sort((one, other) => other.p95 - one.p95);
  groups("Slowest by method", timed.length > 1 ? timed : [], "method", (one) => `${duration(one.p95)} (p95 of ${one.latencies.length})`);
  const defined = await definitions();
  const tools = byDetail((row) => word("method", row) === "tools/call", defined.keys());
  groups("Tools", tools, "tool", (one) => [
    counted(one.calls, "call"),
    one.failures && `${one.failures} failed`,
    one.calls && `${bytes(one.bytesOfAnswers)} of results`,
    defined.has(one.name) && `${bytes(defined.get(one.name))} of definition`,
  ]);
  const documents = byDetail((row) => /^(textDocument|notebookDocument|workspace|codeAction)\//.test(word("method", row)));
  documents.sort((one, other) => other.bytes - one.bytes);
  groups("Traffic by document", documents, "uri", (one) => [
    counted(one.calls + one.answers, "message"),
    bytes(one.bytes),
    one.diagnosed && `diagnostics sent ${one.diagnosed} ${one.diagnosed === 1 ? "time" : "times"}`,
  ]);
  const cancellations = rowsWhere((row) => ["$/cancelRequest", "notifications/cancelled"].includes(word("method", row)));
  list("Cancellations", cancellations, toRow, clock, { q: "method:*/cancel*" });
}

/** A list of the first items, and a way to all: a link to their rows, or a button that lists them here. */
function list(title, all, name, remark, filter, count = all.length) {
  if (!all.length) return;
  const item = (one) => {
    const said = [remark(one)].flat().filter(Boolean).join(", ");
    return el("li", {}, name(one), el("span", { class: "faint" }, ` ${visible(said)}`));
  };
  const items = el("ul", {}, ...all.slice(0, LISTED).map(item));
  const every = `all ${count}`;
  const button = el("button", { type: "button", onclick: () => items.replaceChildren(...all.slice(0, 1000).map(item)) }, every);
  if (all.length > LISTED) items.append(el("li", {}, filter ? toList(filter, every) : button));
  const section = el("details", {}, el("summary", {}, el("h3", {}, `${title} (${count})`)), items);
  // On a narrow screen, the open lists would push the messages out of it.
  section.open = innerWidth >= 700;
  document.getElementById("lists").append(section);
}

/** A list of what calls have in common, each a link to the calls; `field` is that of a token. */
const groups = (title, all, field, remark) => list(title, all, (one) => toList({ q: token(field, one.name) }, visible(one.name)), remark);

/** The verdicts of the rules of conformance: their summary, and each broken rule with the first message that breaks it. */
function conformance({ summary, broken }) {
  const rowOf = ({ log, message }) => rowNamed(index.logs.length > 1 ? `${log + 1}:${message}` : message);
  const name = (one) => (rowOf(one) === undefined ? el("span", {}, one.rule || summary) : toRow(rowOf(one)));
  const remark = ({ rule, faults }) => rule && [rule, counted(faults, "fault")];
  list("Conformance", [{}, ...broken], name, remark, null, `${broken.length} broken`);
}

/** The failures, those of the same tool or method with the same text together, the most frequent first. */
function failedAlike(failures) {
  const alike = new Map();
  for (const row of failures) {
    const key = `${subjectOf(row)}\n${word("error", row)}`;
    if (!alike.has(key)) alike.set(key, []);
    alike.get(key).push(row);
  }
  const sorted = [...alike.values()].sort((one, other) => other.length - one.length);
  const filter = ([row]) => {
    const call = callOf(row);
    const field = methodOf(row) === "tools/call" ? "tool" : "method";
    const name = field === "tool" ? word("detail", call) : word("method", call);
    return ["status:failed", name && token(field, name), word("error", row) && JSON.stringify(word("error", row))]
      .filter(Boolean)
      .join(" ");
  };
  const name = (rows) =>
    rows.length > 1 ? toList({ q: filter(rows) }, `${rows.length} × ${visible(subjectOf(rows[0]))}`) : toRow(rows[0]);
  list("Failures", sorted, name, ([row]) => word("error", row), { outcome: "failed" }, failures.length);
}

/** The bytes of each tool's definition, in the last list that shows it; of the last lists alone where there are many. */
async function definitions() {
  const lists = rowsWhere((row) => index.kind[row] === KIND.response && methodOf(row) === "tools/list");
  const sizes = new Map();
  for (const row of lists.slice(-5)) {
    try {
      const record = JSON.parse(await textOf(row));
      const message = placeInBatch(row) ? record[placeInBatch(row) - 1] : record;
      for (const tool of message.result.tools) sizes.set(tool.name, new TextEncoder().encode(JSON.stringify(tool)).length);
    } catch {
      // The page does not have it, or it is not a list.
    }
  }
  return sizes;
}

/** The marks of sentences, so that colour alone does not tell how bad it is. */
const MARKS = { bad: "✗", warn: "!", good: "✓", plain: "·" };

/** The sentences about the log, the worst first. */
function verdict(failures, inState) {
  const sentences = [];
  const say = (level, ...said) =>
    sentences.push(
      el("span", { class: `said ${level}` }, el("span", { class: "mark", "aria-hidden": "true" }, MARKS[level]), " ", ...said, " "),
    );
  const first = (level, rows, said) => rows.length && say(level, said, ", the first: ", toRow(rows[0]), ".");
  const waits = (level, state, is, are, said) => {
    const rows = inState(state);
    const verb = rows.length > 1 ? ` and ${rows.length - 1} more ${are}` : ` ${is}`;
    if (rows.length) say(level, toRow(rows[0]), `${verb} ${said}.`);
  };
  const requests = rowsWhere((row) => index.kind[row] === KIND.request);
  if (failures.length) {
    const among = requests.length ? ` in ${counted(requests.length, "request")}` : "";
    const error = visible(word("error", failures[0]));
    say("bad", `${counted(failures.length, "failure")}${among}, the first: `, toRow(failures[0]), error ? `: ${error}.` : ".");
  }
  waits("bad", "unanswered", "has", "have", "no answer");
  waits("bad", "superseded", "has", "have", "no answer, and a later request took the id");
  waits("warn", "open", "has", "have", "no answer when the log ends");
  const broken = rowsWhere((row) => [KIND.invalid, KIND.malformed].includes(index.kind[row])).length;
  const records = `${counted(broken, "record")} ${broken === 1 ? "is" : "are"} not JSON-RPC`;
  if (broken) say("warn", toList({ outcome: "invalid" }, records), ".");
  const orphans = rowsWhere((row) => [KIND.response, KIND.error].includes(index.kind[row]) && index.answers[row] === null);
  first("warn", orphans, counted(orphans.length, "unsolicited answer"));
  for (const [problem, name] of [
    ["IdReusedWhileOpen", "id reused while its request was open"],
    ["AmbiguousPairing", "ambiguous pairing"],
    ["DuplicateAnswer", "second answer to a request"],
    ["AnswerBeforeRequest", "answer with a time before its request: no latency"],
  ]) {
    const rows = rowsWhere(hasProblem(problem));
    first("warn", rows, `${rows.length} × ${name}`);
  }
  const unknown = requests.filter((row) => outcomeOf(row)[0] === "unknown");
  if (unknown.length)
    say("warn", `Answers are not in this log: ${counted(unknown.length, "request")} of one side alone, the first: `, toRow(unknown[0]), ".");
  waits("plain", "cancelled", "was", "were", "cancelled");
  waits("plain", "waiting", "is", "are", "waiting");
  if (!requests.length) say("plain", "There are no requests.");
  else if (!failures.length && requests.every((row) => outcomeOf(row)[0] === "ok"))
    say("good", `${requests.length === 1 ? "The request was" : `All ${requests.length} requests were`} answered, without a failure.`);
  return sentences;
}

async function notes(isHanging) {
  const all = [];
  const rows = index.kind.length;
  if (facts.chosenBy) {
    const total = counted(rows + facts.leftOut, "message");
    all.push(`${rows} of ${total}, chosen by ${visible(facts.chosenBy)}, each with its answer or request.`);
  }
  const last = isHanging ? index.kind.lastIndexOf(KIND.text) : -1;
  const text = last < 0 ? null : await textOf(last);
  if (text?.trim()) all.push(`The last text between the messages: ${visible(text.trim().slice(0, 300))}`);
  if (facts.secrets) all.push(`${counted(facts.secrets, "possible secret")} in this page: \`--redact\` puts placeholders there.`);
  if (facts.redacted) all.push("Redacted: equal placeholders were equal values.");
  if (facts.withoutText) all.push(`The texts of ${facts.withoutText} of ${counted(rows, "row")} are not in this page; \`--full\` has all.`);
  document.getElementById("notes").replaceChildren(...all.map((note) => el("li", {}, note)));
}

function totals(failures, inState) {
  const count = (kind) => rowsWhere((row) => index.kind[row] === kind).length;
  const spans = index.logs.map(() => 0);
  for (const row of index.kind.keys()) spans[logOf[row]] = Math.max(spans[logOf[row]], timeOf(row) ?? 0);
  const sessions = new Set(index.session.filter((session, row) => session && index.kind[row] !== KIND.text)).size;
  const [log] = index.logs.length === 1 ? index.logs : [null];
  const all = [
    ["duration", index.time.some((time) => time !== null) && duration(spans.reduce((one, other) => Math.max(one, other)))],
    ["requests", count(KIND.request)],
    ["failures", failures.length],
    ...STATES.slice(1).map((state, place) => [STATE_WORDS[place + 1], inState(state).length]),
    ["notifications", count(KIND.notification)],
    ["bytes of messages", bytes(index.length.reduce((sum, one) => sum + one, 0))],
    ["sessions", sessions > 1 && sessions],
    ["format", log?.format],
    ["client", log?.client],
    ["server", log?.server],
    ["protocol version", log?.protocol.join(" → ")],
  ];
  const shown = all
    .filter(([, value]) => value)
    .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, visible(String(value)))));
  document.getElementById("totals").replaceChildren(...shown);
}

function logs(failures, unanswered) {
  const number = (rows, log) => rows.filter((row) => logOf[row] === log).length;
  const rows = index.logs.map((log, place) => [
    toList({ log: logName(place) }, logName(place)),
    log.rows,
    number(failures, place),
    number(unanswered, place),
    log.format,
    [log.client, log.server].filter(Boolean).join(" → "),
  ]);
  const heads = ["log", "rows", "failures", "no answer", "format", "client and server"];
  document.getElementById("logs").replaceChildren(...(rows.length > 1 ? [table(heads, rows)] : []));
}
