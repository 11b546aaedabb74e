// Lists of any length: only what is visible is in the document. And the two that the page has.

const ROW = 28;

/** A list box of rows; `fill` puts the cells of a row into its element. */
function virtualList(name, label, rows, fill, head) {
  const sheet = el("div", { class: "rows", role: "presentation" });
  const box = el("div", { class: `list ${name}`, role: "listbox", tabindex: "0", "aria-label": label });
  box.append(sheet);
  sheet.style.height = `${rows.length * ROW}px`;
  box.style.maxHeight = `${Math.max(3, rows.length) * ROW + 2}px`;
  let active = 0;
  /** The rows in the document, by their places. What stays in view is not made again. */
  const drawn = new Map();
  const make = (place) => {
    const row = el("div", { class: "row", role: "option", id: `row-${place}`, "aria-posinset": place + 1, "aria-setsize": rows.length });
    row.style.top = `${place * ROW}px`;
    fill(rows[place], row);
    row.addEventListener("click", () => (move(place), go({ open: nameOf(rows[place]) })));
    return row;
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
    const last = Math.min(rows.length, first + Math.ceil(box.clientHeight / ROW) + 10);
    for (const [place, row] of drawn) {
      if (place < first || place >= last) row.remove(), drawn.delete(place);
    }
    let next = null;
    for (let place = last - 1; place >= first; place--) {
      let row = drawn.get(place);
      if (!row) {
        row = make(place);
        drawn.set(place, row);
        sheet.insertBefore(row, next);
      }
      row.classList.toggle("active", place === active);
      row.setAttribute("aria-selected", String(rows[place] === shownRow));
      next = row;
    }
    if (rows.length) box.setAttribute("aria-activedescendant", `row-${active}`);
  };
  const move = (place) => {
    active = Math.max(0, Math.min(rows.length - 1, place));
    const top = active * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    draw();
  };
  let waiting = false;
  box.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => ((waiting = false), draw()));
  });
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    if (event.key in steps) move(active + steps[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && rows.length) go({ open: nameOf(rows[active]) });
    else return;
    event.preventDefault();
  });
  new ResizeObserver(draw).observe(box);
  const wrapper = el("div", {}, head, box);
  wrapper.select = (row) => {
    const place = rows.indexOf(row);
    if (place >= 0) move(place);
    else draw();
  };
  wrapper.focusList = () => box.focus();
  return wrapper;
}

/** The rows of the waterfall: calls, what answers none, and what is no message. */
const isExchange = (row) => index.kind[row] !== KIND.text && index.answers[row] === null;

function waterfall(rows) {
  const timed = rows.some((row) => index.time[row] !== null);
  const at = (row) => (timed ? index.time[row] : row);
  const end = (row) =>
    answer[row] < 0 ? at(row) : timed && index.latency[answer[row]] !== null ? at(row) + index.latency[answer[row]] : at(answer[row]);
  let [from, to] = [Infinity, -Infinity];
  for (const row of rows) {
    if (at(row) === null) continue;
    from = Math.min(from, at(row));
    to = Math.max(to, at(row), end(row) ?? from);
  }
  const span = to - from || 1;
  const note = timed ? `Bars are in time, over ${duration(to - from)}.` : "The log has no times: bars are by the order of messages.";
  const fill = (row, element) => {
    const [outcome, told] = outcomeOf(row);
    const mark = {
      failed: "✗ ",
      open: "… ",
      unanswered: "… ",
      waiting: "… ",
      cancelled: "– ",
      ok: "✓ ",
      notification: "→ ",
      invalid: "! ",
    }[outcome];
    const isOpen = STATES.includes(outcome);
    const bar = el("span", { class: `bar ${isOpen ? "open" : outcome}` });
    const start = ((at(row) ?? from) - from) / span;
    bar.style.left = `${Math.min(99, start * 100)}%`;
    bar.style.width = `${isOpen ? 100 - start * 100 : Math.max(0, ((end(row) ?? at(row)) - at(row)) / span) * 100}%`;
    const size = index.length[row] + (answer[row] < 0 ? 0 : index.length[answer[row]]);
    element.append(
      el("span", { class: "mono" }, nameOf(row)),
      el("span", { class: "faint" }, clock(row)),
      el("span", { title: visible(subjectOf(row)) }, visible(briefly(row))),
      el("span", { class: outcome }, visible(mark + (told || outcome))),
      el("span", {}, answer[row] < 0 ? "" : duration(index.latency[answer[row]])),
      el("span", {}, bytes(size)),
      el("span", { class: "track", "aria-hidden": "true" }, bar),
    );
  };
  return virtualList(timed ? "waterfall" : "waterfall untimed", "Exchanges", rows, fill, el("p", { class: "faint" }, note));
}

function sequence(rows) {
  const fill = (row, element) => {
    const kind = index.kind[row];
    const [left, right] = [el("span", { class: "lifeline" }, "client"), el("span", { class: "lifeline" }, "server")];
    const arrow = [" · ", "→", "←"][index.sender[row]];
    let said = `${arrow} ${subjectOf(row)}`;
    let style = "arrow";
    if (kind === KIND.text) (said = "text"), (style += " text faint");
    else if (kind === KIND.notification) style += " dashed";
    else if (kind === KIND.request && answer[row] < 0) (said += ` … ${STATE_WORDS[index.state[row]]}`), (style += " open");
    else if (isFailure(row)) (said = `${arrow} ✗ ${subjectOf(row)}: ${word("error", row)}`), (style += " failed");
    else if (isAnswer(row)) said = `${arrow} ✓ ${subjectOf(row)} ${duration(index.latency[row])}`;
    else if (kind === KIND.exchange) said = `${arrow} ${word("error", row)}`;
    else if (kind >= KIND.invalid) (said = `${arrow} ! ${KINDS[kind]}`), (style += " failed");
    if (index.element[row]) element.classList.add("batch");
    const operation = operationOf(row);
    if (operation) (said += ` (operation of ${operation})`), element.classList.add("operation");
    const label = el("span", {}, visible(said));
    if (kind === KIND.text) textOf(row).then((text) => text !== null && (label.textContent = visible(text.trim().slice(0, 300))));
    element.append(
      el("span", { class: "mono" }, nameOf(row)),
      el("span", { class: "faint" }, clock(row)),
      left,
      el("span", { class: style }, label),
      right,
    );
  };
  const note = "From the top down, as the log has them: → from the client, ← from the server.";
  const timed = rows.some((row) => index.time[row] !== null);
  return virtualList(timed ? "sequence" : "sequence untimed", "Messages in sequence", rows, fill, el("p", { class: "faint" }, note));
}
