// The messages in the order of the log, between client and server: a lane for each connection, if there are a few.

const MOST_LANES = 6;

function sequence(rows) {
  const labels = connectionLabels();
  const lanes = labels.length > 1 && labels.length <= MOST_LANES ? labels : [""];
  const areOne = labels.length > 1 && lanes.length === 1;
  /** Puts a message, or the heads of a lifeline, into a lane. */
  const inLane = (place, element) => {
    element.style.setProperty("--lane", place);
    return element;
  };
  const fill = (row, element) => {
    const [sender, style, said] = step(row, lanes.length > 1 ? briefly(row) : subjectOf(row));
    if (index.element[row]) element.classList.add("batch");
    const operation = operationOf(row);
    if (operation) element.classList.add("operation");
    const connection = connectionOf(row);
    const restart =
      connection?.isRestart && connection.first === row ? `⟲ ${labels.length > 1 ? "" : `${connection.name} `}restarted · ` : "";
    if (restart) element.classList.add("restart");
    const text = visible(restart + (operation ? `${said} (operation of ${operation})` : said));
    // Where all lanes are one, each message says whose it is.
    const who = labels.length > 1 ? el("span", { class: "who" }, visible(`${connection?.name ?? ""} · `)) : null;
    const label = el("span", { class: "label" }, ...[who, text].filter(Boolean));
    if (index.kind[row] === KIND.text)
      textOf(row).then((text) => text !== null && (label.textContent = visible(text.trim().slice(0, 300))));
    const tip = el("span", { class: "tip", "aria-hidden": "true" });
    const parts = { client: [label, tip], server: [tip, label], unknown: [label] }[sender];
    const from = sender === "unknown" ? "" : `from ${sender}: `;
    const arrow = el("span", { class: `arrow ${sender}` }, ...parts);
    const lane = el("span", { class: `lane ${style}` }, el("span", { class: "unseen" }, from), arrow);
    element.append(
      el("span", { class: "mono" }, nameOf(row)),
      el("span", { class: "faint when" }, clock(row)),
      el("span", { class: "lanes" }, inLane(Math.max(0, lanes.indexOf(connection?.label)), lane)),
    );
  };
  const isTimed = rows.some((row) => index.time[row] !== null);
  const [log] = index.logs.length === 1 ? index.logs : [{}];
  const side = (role) => el("span", {}, visible([role, log[role]].filter(Boolean).join(": ")));
  const head = headCells(["", "name"], ["when", "time"], ["lanes", ""]);
  const nameOfLane = (label) => [...connections.values()].find((one) => one.label === label).name;
  const sides = (label) =>
    lanes.length > 1 ? [el("span", {}, "client"), el("span", {}, visible(nameOfLane(label)))] : [side("client"), side("server")];
  head.lastChild.append(...lanes.map((label, place) => inLane(place, el("span", { class: "lane sides" }, ...sides(label)))));
  const list = virtualList(isTimed ? "sequence" : "sequence untimed", "Messages in sequence", rows, fill, null, head);
  if (areOne) list.classList.add("shared");
  list.style.setProperty("--lanes", lanes.length);
  return list;
}

/** Describes a row about a subject: its sender, the style of its arrow, and its text. */
function step(row, subject) {
  const kind = index.kind[row];
  const sender = SENDERS[index.sender[row]];
  if (kind === KIND.text) return ["unknown", "plain faint", "text"];
  if (kind === KIND.notification) return [sender, "dashed", subject];
  if (kind === KIND.request && stateOf(row)) return [sender, "open", `${subject} … ${STATE_WORDS[index.state[row]]}`];
  if (isFailure(row)) return [sender, "failed", `✗ ${subject}: ${reasonOf(word("error", row))}`];
  if (kind === KIND.exchange) return [sender, "", word("error", row)];
  const left = stateOf(callOf(row));
  if (isAnswer(row) && left) return [sender, "faint", `– ${subject} ${left} ${duration(index.latency[row])}`];
  if (isAnswer(row)) return [sender, "", `✓ ${subject} ${duration(index.latency[row])}`];
  if (kind >= KIND.invalid) return [sender, "failed", `! ${KINDS[kind]}`];
  return [sender, "", subject];
}
