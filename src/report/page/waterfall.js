// The list: a row for each exchange, with a bar in time.

const OUTCOME_MARKS = {
  failed: "✗",
  open: "…",
  unanswered: "…",
  superseded: "…",
  lost: "…",
  waiting: "…",
  cancelled: "–",
  outdated: "–",
  uncaptured: "?",
  ok: "·",
  notification: "→",
  invalid: "!",
};

/** The rows of the list: calls, answers to no call, and invalid records. */
const isExchange = (row) => index.kind[row] !== KIND.text && index.answers[row] === null;

/** What the heads of the list group calls by. */
const GROUPS = {
  connection: (row) => connectionOf(row)?.name ?? "no connection",
  tool: (row) => toolOf(row) || methodOf(row) || KINDS[index.kind[row]],
};

function waterfall(rows) {
  const isTimed = index.time.some((time) => time !== null);
  if (state().get("sort") === "took") rows.sort((one, other) => (tookOf(other) ?? -1) - (tookOf(one) ?? -1));
  // Without times, the order of the messages takes their place.
  const at = (row) => (isTimed ? timeOf(row) : row);
  const end = (row) => (isTimed ? endOf(row) : [answer[row], endedBy[row], -1].find((one) => one >= 0)) ?? null;
  const range = spanOf(state()) ?? (isTimed ? bounds : [0, index.kind.length]);
  const share = (time) => Math.max(0, Math.min(1, (time - range[0]) / (range[1] - range[0] || 1)));
  const by = state().get("group");
  const groups = Object.hasOwn(GROUPS, by ?? "") ? grouped(rows, GROUPS[by]) : [];
  const folded = new Set();
  /** The rows with the heads of their groups, which are -1, -2 and so on. */
  const all = () => (groups.length ? groups.flatMap((group, place) => [-1 - place, ...(folded.has(place) ? [] : group.rows)]) : rows);
  const fold = (row) => {
    if (!folded.delete(-1 - row)) folded.add(-1 - row);
    return all();
  };
  const fillHead = (place, element) => {
    const { name, rows } = groups[place];
    element.classList.add("group");
    const mark = el("span", { "aria-hidden": "true" }, folded.has(place) ? "▸ " : "▾ ");
    const hidden = el("span", { class: "unseen" }, folded.has(place) ? " folded" : "");
    element.append(el("span", {}, mark, el("b", {}, visible(name)), el("span", { class: "faint" }, ` ${inShort(rows)}`), hidden));
  };
  const fill = (row, element) => {
    if (row < 0) return fillHead(-1 - row, element);
    const [outcome, remark] = outcomeOf(row);
    const isOpen = isRequest(row) && end(row) === null && outcome !== "ok";
    const track = el("span", { class: "track", "aria-hidden": "true" });
    if (at(row) !== null) {
      const bar = el("span", { class: `bar ${isOpen ? "open" : outcome}` });
      const start = Math.min(0.99, share(at(row)));
      bar.style.left = `${start * 100}%`;
      bar.style.width = `${Math.max(0, (isOpen ? 1 : share(end(row) ?? at(row))) - start) * 100}%`;
      track.append(bar);
    }
    const said = ["ok", "notification"].includes(outcome) && !remark ? "" : `${OUTCOME_MARKS[outcome]} ${reasonOf(remark) || outcome}`;
    const cell = (name, attributes, text) => el("span", { "data-cell": name, ...attributes }, visible(text));
    element.append(
      cell("time", { class: "faint when" }, clock(row)),
      cell("connection", { class: "faint" }, connectionOf(row)?.name ?? ""),
      cell("call", { title: `${nameOf(row)} ${visible(subjectOf(row))}` }, briefly(row)),
      cell("outcome", { class: outcome, title: said && visible(said) }, said),
      cell("took", { class: "took" }, duration(tookOf(row))),
      track,
    );
  };
  const sort = (name, text) => {
    const isSorted = (state().get("sort") ?? "time") === name;
    const act = () => go({ sort: name === "time" ? null : name });
    return el(
      "button",
      { type: "button", "data-sort": name, "aria-pressed": String(isSorted), onclick: act },
      `${text}${isSorted ? " ▾" : ""}`,
    );
  };
  const group = (name, text) => {
    const act = () => go({ group: by === name ? null : name });
    const attributes = { type: "button", "data-group": name, "aria-pressed": String(by === name), title: `Group by ${name}`, onclick: act };
    return el("button", attributes, `${text}${by === name ? " ▾" : " ▸"}`);
  };
  const head = headCells(
    ["when", sort("time", `time${facts.zone.startsWith(",") ? "" : facts.zone}`)],
    ["", group("connection", "connection")],
    ["", group("tool", "call")],
    ["", "outcome"],
    ["took", sort("took", "took")],
    ["track ends", ""],
  );
  const ends = isTimed ? range.map((time) => clockTime(time, areDays)) : ["by the order of messages, which have no times", ""];
  head.lastChild.append(...ends.map((text) => el("span", {}, text)));
  const isAlone = connectionLabels().length < 2;
  const name = ["waterfall", !isTimed && "untimed", isTimed && areDays && "dated", isAlone && "alone"];
  const list = virtualList(name.filter(Boolean).join(" "), "Exchanges", all(), fill, fold, head);
  list.dataset.part = "list";
  return list;
}
