// The first screen: what was wrong, in a sentence and in lists.

const LISTED = 8;

function findings() {
  const rows = [...index.kind.keys()];
  const failures = rows.filter(isFailure);
  const hanging = rows.filter((row) => stateOf(row));
  const slowest = rows.filter((row) => index.latency[row] !== null).sort((one, other) => index.latency[other] - index.latency[one]);
  return { failures, hanging, slowest };
}

async function overview() {
  const { failures, hanging, slowest } = findings();
  const inState = (state) => hanging.filter((row) => stateOf(row) === state);
  const unanswered = inState("unanswered");
  const count = (kind) => index.kind.reduce((sum, one) => sum + (one === kind ? 1 : 0), 0);
  const requests = count(KIND.request);
  document.title = facts.title;
  document.getElementById("title").textContent = facts.title;
  const verdict = document.getElementById("verdict");
  verdict.replaceChildren(...sentence(failures, hanging, requests));
  const notes = document.getElementById("notes");
  const note = (text) => notes.append(el("li", {}, text));
  if (facts.chosenBy) {
    const all = counted(index.kind.length + facts.leftOut, "message");
    note(`${index.kind.length} of ${all}, chosen by ${visible(facts.chosenBy)}, each with its answer or request.`);
  }
  if (hanging.length) {
    const last = index.kind.lastIndexOf(KIND.text);
    const text = last < 0 ? null : await textOf(last);
    if (text?.trim()) note(`The last text between the messages: ${visible(text.trim().slice(0, 300))}`);
  }
  if (facts.secrets) note(`${counted(facts.secrets, "possible secret")} in this page: \`--redact\` puts placeholders there.`);
  if (facts.redacted) note("Strings and long numbers are placeholders; equal ones were equal.");
  if (facts.withoutText)
    note(`The texts of ${facts.withoutText} of ${counted(index.kind.length, "row")} are not in this page; \`--full\` has all.`);
  totals(count, requests, failures, hanging);
  logs(failures, unanswered);
  const lists = document.getElementById("lists");
  const list = (title, rows, told, filter) => {
    const items = rows.slice(0, LISTED).map((row) => el("li", {}, link(row), el("span", { class: "faint" }, told(row))));
    if (rows.length > LISTED && filter) items.push(el("li", {}, el("a", { href: address(filter) }, `all ${rows.length}`)));
    lists.append(el("section", {}, el("h3", {}, `${title} (${rows.length})`), items.length ? el("ul", {}, ...items) : el("p", {}, "none")));
  };
  list("Failures", failures, (row) => ` ${visible(word("error", row))}`, { outcome: "failed", view: "waterfall" });
  for (const [state, title] of [
    ["unanswered", "Never answered"],
    ["open", "Open at the end"],
    ["cancelled", "Cancelled"],
    ["waiting", "Waiting"],
  ]) {
    const rows = inState(state);
    if (rows.length || state === "unanswered") list(title, rows, (row) => ` ${clock(row)}`, { outcome: state, view: "waterfall" });
  }
  list("Slowest", slowest, (row) => ` ${duration(index.latency[row])}`, null);
  const methods = byMethod();
  groups(
    "Failures by method",
    methods.filter((one) => one.failures),
    { least: 2 },
    (one) => `${one.failures} of ${one.calls} failed`,
  );
  const timed = methods.filter((one) => one.latencies.length);
  timed.forEach(
    (one) =>
      (one.p95 = percentile(
        one.latencies.sort((low, high) => low - high),
        0.95,
      )),
  );
  timed.sort((one, other) => other.p95 - one.p95);
  groups("Slowest by method", timed, { least: 2 }, (one) => `${duration(one.p95)} (p95 of ${one.latencies.length})`);
  const defined = await definitions();
  groups(
    "Tools",
    byDetail((row) => word("method", row) === "tools/call", defined.keys()),
    {},
    (one) =>
      [
        counted(one.calls, "call"),
        one.failures && `${one.failures} failed`,
        one.calls && `${bytes(one.bytesOfAnswers)} of results`,
        defined.has(one.name) && `${bytes(defined.get(one.name))} of definition`,
      ]
        .filter(Boolean)
        .join(", "),
  );
  const documents = byDetail((row) => /^(textDocument|notebookDocument|workspace|codeAction)\//.test(word("method", row)));
  groups(
    "Traffic by document",
    documents.sort((one, other) => other.bytes - one.bytes),
    {},
    (one) =>
      [
        counted(one.calls + one.answers, "message"),
        bytes(one.bytes),
        one.diagnosed && `diagnostics told ${one.diagnosed} ${one.diagnosed === 1 ? "time" : "times"}`,
      ]
        .filter(Boolean)
        .join(", "),
  );
  const cancelled = [...index.kind.keys()].filter((row) => ["$/cancelRequest", "notifications/cancelled"].includes(word("method", row)));
  if (cancelled.length) list("Cancellations", cancelled, (row) => ` ${clock(row)}`, { q: word("method", cancelled[0]), view: "waterfall" });
}

/** A list of what calls have in common, each a link to the calls. */
function groups(title, all, { least = 1 }, told) {
  if (all.length < least) return;
  const item = (one) =>
    el(
      "li",
      {},
      el("a", { href: address({ q: one.name, view: "waterfall" }) }, visible(one.name)),
      el("span", { class: "faint" }, ` ${told(one)}`),
    );
  const more = all.length > LISTED ? [el("li", { class: "faint" }, `and ${all.length - LISTED} more`)] : [];
  document
    .getElementById("lists")
    .append(el("section", {}, el("h3", {}, `${title} (${all.length})`), el("ul", {}, ...all.slice(0, LISTED).map(item), ...more)));
}

/** The bytes of each tool's definition, in the last list that shows it; of the last lists alone where there are many. */
async function definitions() {
  const lists = [...index.kind.keys()].filter((row) => index.kind[row] === KIND.response && methodOf(row) === "tools/list");
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

function sentence(failures, hanging, requests) {
  const parts = [];
  for (const [state, one, more] of [
    ["unanswered", "was never answered", "nor were"],
    ["open", "was open when the log ended", "as were"],
    ["cancelled", "was cancelled", "as were"],
    ["waiting", "is waiting", "as are"],
  ]) {
    const rows = hanging.filter((row) => stateOf(row) === state);
    if (rows.length) parts.push(link(rows[0]), ` ${one}${rows.length > 1 ? `, ${more} ${rows.length - 1} more. ` : ". "}`);
  }
  if (failures.length) {
    parts.push(
      `${counted(failures.length, "failure")} in ${counted(requests, "request")}, the first: `,
      link(failures[0]),
      `: ${visible(word("error", failures[0]))}. `,
    );
  }
  if (!parts.length)
    parts.push(
      requests
        ? `${requests === 1 ? "The request was" : `All ${requests} requests were`} answered, without a failure. `
        : "There are no requests. ",
    );
  const broken = index.kind.filter((kind) => kind === KIND.invalid || kind === KIND.malformed).length;
  if (broken)
    parts.push(
      el(
        "a",
        { href: address({ outcome: "invalid", view: "waterfall" }) },
        `${counted(broken, "record")} ${broken === 1 ? "is" : "are"} no JSON-RPC`,
      ),
      ". ",
    );
  const orphans = [...index.kind.keys()].filter((row) => isAnswer(row) && index.kind[row] !== KIND.exchange && index.answers[row] === null);
  if (orphans.length) parts.push(`${counted(orphans.length, "answer")} to no request, the first: `, link(orphans[0]), ". ");
  for (const [problem, one] of [
    ["IdReusedWhileOpen", "id reused while its request was open"],
    ["AmbiguousPairing", "ambiguous pairing"],
  ]) {
    const bit = 1 << index.problem_names.indexOf(problem);
    const rows = [...index.kind.keys()].filter((row) => index.problems[row] & bit);
    if (rows.length) parts.push(`${rows.length} × ${one}, the first: `, link(rows[0]), ". ");
  }
  return parts;
}

function totals(count, requests, failures, hanging) {
  const list = document.getElementById("totals");
  const fact = (name, value) => value && list.append(el("div", {}, el("dt", {}, name), el("dd", {}, String(value))));
  const times = index.time.filter((time) => time !== null);
  const [from, to] = times.reduce(([least, most], time) => [Math.min(least, time), Math.max(most, time)], [Infinity, -Infinity]);
  const sum = (column) => column.reduce((total, one) => total + one, 0);
  fact("duration", times.length && duration(to - from));
  fact("requests", String(requests));
  fact("failures", String(failures.length));
  STATES.forEach((state, number) => {
    const rows = hanging.filter((row) => state && stateOf(row) === state).length;
    fact(STATE_WORDS[number], (rows || state === "unanswered") && String(rows));
  });
  fact("notifications", String(count(KIND.notification)));
  fact("bytes of messages", bytes(sum(index.length)));
  const sessions = new Set(index.session.filter((session, row) => session && index.kind[row] !== KIND.text)).size;
  fact("sessions", sessions > 1 && sessions);
  if (index.logs.length === 1) {
    const [log] = index.logs;
    fact("format", log.format);
    fact("client", log.client);
    fact("server", log.server);
    fact("protocol version", log.protocol.join(" → "));
  }
}

function logs(failures, unanswered) {
  if (index.logs.length < 2) return;
  const number = (rows, log) => rows.filter((row) => logOf[row] === log).length;
  const cell = (value) => el("td", { class: "number" }, String(value));
  const rows = index.logs.map((log, place) =>
    el(
      "tr",
      {},
      el("td", {}, el("a", { href: address({ log: String(place + 1) }) }, `${place + 1}: ${log.name}`)),
      el("td", {}, log.format),
      cell(log.rows),
      cell(number(failures, place)),
      cell(number(unanswered, place)),
      el("td", {}, [log.client, log.server].filter(Boolean).join(" → ")),
    ),
  );
  const heads = ["log", "format", "rows", "failures", "never answered", "client and server"];
  const head = el("tr", {}, ...heads.map((name, place) => el("th", { scope: "col", class: place > 1 && place < 5 ? "number" : "" }, name)));
  document
    .getElementById("logs")
    .append(
      el(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Logs" },
        el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows)),
      ),
    );
}

/** Calls by method: how many, how they ended, how long they took, and their bytes. */
const byMethod = (rows = index.kind.keys()) => grouped(rows, (row) => word("method", row));

/** The same by what they are about, of some calls, and of what else there is. */
const byDetail = (isWanted, names = []) =>
  grouped([...index.kind.keys()].filter(isWanted), (row) => word("detail", row), names).filter((one) => one.name);

function grouped(rows, groupOf, names = []) {
  const empty = (name) => ({ name, calls: 0, answers: 0, failures: 0, diagnosed: 0, bytes: 0, bytesOfAnswers: 0, latencies: [], ends: [] });
  const groups = new Map(Array.from(names, (name) => [name, empty(name)]));
  for (const row of rows) {
    if (!isCall(row)) continue;
    const name = groupOf(row);
    const one = groups.get(name) || empty(name);
    groups.set(name, one);
    one.calls++;
    one.bytes += index.length[row];
    if (word("method", row) === "textDocument/publishDiagnostics") one.diagnosed++;
    const end = answer[row];
    if (end < 0) continue;
    one.bytes += index.length[end];
    one.answers++;
    one.bytesOfAnswers += index.length[end];
    if (isFailure(end)) one.failures++;
    if (index.latency[end] !== null) one.latencies.push(index.latency[end]), one.ends.push(end);
  }
  return [...groups.values()].sort((one, other) => other.failures - one.failures || other.calls - one.calls);
}
