// The side column: why calls failed, connections, calls without an answer, the slowest, and notes.

const LISTED = 5;

const faint = (text) => el("span", { class: "faint" }, ` ${visible(text)}`);

/** Shows lists about the rows of the filter, of any outcome, as long as these rows are current. */
async function showSide(rows, isCurrent) {
  const parts = [];
  for (const of of [causesPart, connectionsPart, silentPart, slowestPart, conformancePart]) {
    await pause(rows);
    if (!isCurrent()) return;
    parts.push(of(rows));
  }
  document.getElementById("side").replaceChildren(...parts.filter(Boolean));
}

/** A list with a title, of which the first items are shown until all are asked for; null without items. */
function sidePart(title, name, items) {
  if (!items.length) return null;
  const list = el("ul", {}, ...items.slice(0, LISTED).map((item) => el("li", {}, ...item)));
  const button = el("button", { type: "button" }, `all ${items.length}`);
  button.addEventListener("click", () => list.replaceChildren(...items.slice(0, 1000).map((item) => el("li", {}, ...item))));
  if (items.length > LISTED) list.append(el("li", {}, button));
  return el("section", { "data-part": name }, el("h2", {}, title), list);
}

const causesPart = (rows) => sidePart("Why calls failed", "causes", causes(rows));
const connectionsPart = (rows) => sidePart("Connections", "connections", connectionItems(rows.filter(isRequest)));
const conformancePart = () => (facts.verdicts ? sidePart(facts.verdicts.summary, "conformance", brokenRules(facts.verdicts.broken)) : null);

function silentPart(rows) {
  const silent = grouped(
    rows.filter((row) => isRequest(row) && isSilent(row)),
    briefly,
  );
  const items = silent.map(({ name, rows: [first, ...others] }) => [
    link(others.length ? { outcome: "unanswered", open: null, ...kindOf(first) } : { open: nameOf(first) }, visible(name)),
    faint(
      [others.length ? others.length + 1 : nameOf(first), clock(first) && `since ${clockTime(timeOf(first), areDays)}`]
        .filter(Boolean)
        .join(" · "),
    ),
  ]);
  return sidePart("Never answered", "silent", items);
}

function slowestPart(rows) {
  // What was cancelled took until then, whatever answered it.
  const timed = rows.filter((row) => isRequest(row) && tookOf(row) !== null && stateOf(row) !== "cancelled");
  const slowest = timed.sort((one, other) => tookOf(other) - tookOf(one)).slice(0, LISTED);
  const items = slowest.map((row) => [
    link({ open: nameOf(row) }, visible(briefly(row))),
    faint([duration(tookOf(row)), clockTime(timeOf(row), areDays)].filter(Boolean).join(" · ")),
  ]);
  return sidePart("Slowest", "slowest", items);
}

/** The choice of the tool of a call, or of its method. */
const kindOf = (row) => (toolOf(row) ? { tool: toolOf(row) } : { method: methodOf(row) });

/** The failures of a cause together, the most frequent first. */
function causes(rows) {
  const failed = rows.filter((row) => isExchange(row) && statusOf(row) === "failed");
  return grouped(failed, causeOf).map(({ name, rows: [first, ...others] }) => {
    const text = reasonOf(outcomeOf(first)[1]);
    const to = others.length ? { q: token("cause", name), outcome: "failed" } : { open: nameOf(first) };
    return [el("b", {}, thousands(others.length + 1)), " ", link(to, visible(text))];
  });
}

/** The number of the calls among rows, how many of them failed or got no answer, and how long they took. */
function inShort(rows) {
  const calls = rows.filter(isRequest);
  if (!calls.length) return counted(rows.length, "message");
  const failed = calls.filter((row) => statusOf(row) === "failed").length;
  const silent = calls.filter(isSilent).length;
  const took = calls.map(tookOf).filter((seconds) => seconds !== null);
  const said = [
    counted(calls.length, "call"),
    failed && `${thousands(failed)} failed`,
    silent && `${thousands(silent)} no answer`,
    took.length &&
      `p95 ${duration(
        percentile(
          took.sort((one, other) => one - other),
          0.95,
        ),
      )}`,
  ];
  return said.filter(Boolean).join(" · ");
}

function connectionItems(calls) {
  const span = spanOf(state());
  const groups = grouped(calls, (row) => connectionOf(row)?.label ?? "");
  if (groups.length < 2) return [];
  return groups.map(({ name: label, rows }) => {
    const name = connectionOf(rows[0])?.name ?? label;
    const restarts = [...connections.values()].filter(
      (one) => one.label === label && one.isRestart && (!span || isWithin(span, one.began)),
    );
    const said = [inShort(rows), restarts.length && counted(restarts.length, "restart")].filter(Boolean).join(" · ");
    return [link({ connection: name }, visible(name)), faint(said)];
  });
}

/** Each broken rule of conformance, with the first message that breaks it. */
const brokenRules = (broken) =>
  broken.map(({ rule, faults, log, message }) => {
    const row = rowNamed(index.logs.length > 1 ? `${log + 1}:${message}` : message);
    const name = row === undefined ? rule : link({ open: nameOf(row) }, `${nameOf(row)} ${visible(subjectOf(row))}`);
    return [name, el("span", { class: "faint" }, ` ${row === undefined ? "" : `${rule}, `}${counted(faults, "fault")}`)];
  });

/** Rows by a name, the most frequent first. */
function grouped(rows, nameOf) {
  const groups = new Map();
  for (const row of rows) {
    const name = nameOf(row);
    if (!groups.has(name)) groups.set(name, { name, rows: [] });
    groups.get(name).rows.push(row);
  }
  return [...groups.values()].sort((one, other) => other.rows.length - one.rows.length);
}

/** Notes about the page, below the strip. */
async function notes() {
  const all = [];
  const rows = index.kind.length;
  if (facts.chosenBy) {
    const total = counted(rows + facts.leftOut, "message");
    all.push(`${thousands(rows)} of ${total}, chosen by ${visible(facts.chosenBy)}, each with its answer or request.`);
  }
  const isHanging = rowsWhere((row) => isRequest(row) && isSilent(row)).length > 0;
  const last = isHanging ? index.kind.lastIndexOf(KIND.text) : -1;
  const text = last < 0 ? null : await textOf(last);
  if (text?.trim()) all.push(`The last text between the messages: ${visible(text.trim().slice(0, 300))}`);
  if (facts.secrets) all.push(`${counted(facts.secrets, "possible secret")} in this page: \`--redact\` puts placeholders there.`);
  if (facts.redacted) all.push("Redacted: equal placeholders were equal values.");
  if (facts.withoutText)
    all.push(`The texts of ${thousands(facts.withoutText)} of ${counted(rows, "row")} are not in this page; \`--full\` has all.`);
  document.getElementById("notes").replaceChildren(...all.map((note) => el("li", {}, note)));
}
