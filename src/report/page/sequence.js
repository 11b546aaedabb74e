// The messages in the order of the log, between client and server.

function sequence(rows) {
  const fill = (row, element) => {
    const [sender, style, said] = step(row);
    if (index.element[row]) element.classList.add("batch");
    const operation = operationOf(row);
    if (operation) element.classList.add("operation");
    const label = el("span", { class: "label" }, visible(operation ? `${said} (operation of ${operation})` : said));
    if (index.kind[row] === KIND.text)
      textOf(row).then((text) => text !== null && (label.textContent = visible(text.trim().slice(0, 300))));
    const tip = el("span", { class: "tip", "aria-hidden": "true" });
    const parts = { client: [label, tip], server: [tip, label], unknown: [label] }[sender];
    const from = sender === "unknown" ? "" : `from ${sender}: `;
    element.append(
      el("span", { class: "mono" }, nameOf(row)),
      el("span", { class: "faint when" }, clock(row)),
      el("span", { class: `lane ${style}` }, el("span", { class: "unseen" }, from), el("span", { class: `arrow ${sender}` }, ...parts)),
    );
  };
  const isTimed = rows.some((row) => index.time[row] !== null);
  const [log] = index.logs.length === 1 ? index.logs : [{}];
  const side = (role) => el("span", {}, visible([role, log[role]].filter(Boolean).join(": ")));
  const head = headCells(["", "name"], ["when", "time"], ["lane sides", ""]);
  head.lastChild.append(side("client"), side("server"));
  return virtualList(isTimed ? "sequence" : "sequence untimed", "Messages in sequence", rows, fill, head);
}

/** Describes a row: its sender, the style of its arrow, and its text. */
function step(row) {
  const kind = index.kind[row];
  const sender = SENDERS[index.sender[row]];
  const subject = subjectOf(row);
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
