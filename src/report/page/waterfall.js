// The waterfall: a row for each exchange, with a bar in time.

const OUTCOME_MARKS = { failed: "✗", open: "…", unknown: "?", unanswered: "…", waiting: "…", cancelled: "–", ok: "✓", notification: "→", invalid: "!" };

/** The rows of the waterfall: calls, answers to no call, and invalid records. */
const isExchange = (row) => index.kind[row] !== KIND.text && index.answers[row] === null;

function waterfall(rows) {
  const isTimed = rows.some((row) => index.time[row] !== null);
  // Without times, the order of the messages takes their place.
  const at = (row) => (isTimed ? timeOf(row) : row);
  const end = (row) => (isTimed ? endOf(row) : [answer[row], endedBy[row], -1].find((one) => one >= 0)) ?? null;
  const spans = rows.filter((row) => at(row) !== null).map((row) => [at(row), Math.max(at(row), end(row) ?? at(row))]);
  const bounds = spans.reduce(([from, to], span) => [Math.min(from, span[0]), Math.max(to, span[1])], [Infinity, -Infinity]);
  const range = zoomed(bounds);
  const isOpen = (row) => STATES.includes(outcomeOf(row)[0]) && end(row) === null;
  const inWindow = (row) => at(row) !== null && at(row) <= range[1] && (isOpen(row) ? Infinity : (end(row) ?? at(row))) >= range[0];
  const shown = range === bounds ? rows : rows.filter(inWindow);
  const axis = timeAxis(spans, range);
  const fill = (row, element) => {
    const [outcome, remark] = outcomeOf(row);
    const size = index.length[row] + (answer[row] < 0 ? 0 : index.length[answer[row]]);
    const track = el("span", { class: "track", "aria-hidden": "true" });
    if (at(row) !== null) {
      const bar = el("span", { class: `bar ${isOpen(row) ? "open" : outcome}` });
      const start = Math.min(0.99, Math.max(0, axis.share(at(row))));
      const stop = isOpen(row) ? 1 : Math.min(1, axis.share(end(row) ?? at(row)));
      bar.style.left = `${start * 100}%`;
      bar.style.width = `${Math.max(0, stop - start) * 100}%`;
      track.append(bar);
    }
    element.append(
      el("span", { class: "mono" }, nameOf(row)),
      el("span", { class: "faint when" }, clock(row)),
      el("span", { title: visible(subjectOf(row)) }, visible(briefly(row))),
      el("span", { class: outcome }, visible(`${OUTCOME_MARKS[outcome]} ${remark || outcome}`)),
      el("span", { class: "took" }, answer[row] < 0 ? "" : duration(index.latency[answer[row]])),
      el("span", { class: "size" }, bytes(size)),
      track,
    );
  };
  const head = headCells(["", "name"], ["when", "time"], ["", "call"], ["", "outcome"], ["took", "took"], ["size", "size"], ["track", ""]);
  head.lastChild.append(ruler(axis, isTimed));
  const note = isTimed
    ? `Bars are in time${index.logs.length > 1 ? ", from the first time of each log" : ""}: ${duration(range[1] - range[0])}.`
    : "The log has no times: bars are by the order of messages.";
  const list = virtualList(isTimed ? "waterfall" : "waterfall untimed", "Exchanges", shown, fill, zoomBar(note, axis, bounds), head);
  list.count = shown.length;
  return list;
}

/** The part of the axis that the address asks for, or all of it. */
function zoomed(bounds) {
  const [from, to] = ["from", "to"].map((name) => Number.parseFloat(state().get(name)));
  return to > from ? [from, to] : bounds;
}

const zoom = (from, to) => go({ from: String(+from.toFixed(6)), to: String(+to.toFixed(6)) });

function zoomBar(note, axis, bounds) {
  const [from, to] = axis.window;
  const wider = [Math.max(bounds[0], from - (to - from) / 2), Math.min(bounds[1], to + (to - from) / 2)];
  const isWhole = from <= bounds[0] && to >= bounds[1];
  const whole = () => go({ from: null, to: null });
  const button = (text, label, act) => el("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const buttons = [
    button("+", "Zoom in", () => zoom(axis.at(0.25), axis.at(0.75))),
    ...(isWhole
      ? []
      : [
          button("−", "Zoom out", () => (wider[0] <= bounds[0] && wider[1] >= bounds[1] ? whole() : zoom(...wider))),
          button("All", "Whole log", whole),
        ]),
  ];
  return el("p", { class: "zoom faint" }, note, ...(to > from ? buttons : []));
}

/**
 * Maps times to shares of the width and back. A time in which nothing happens is folded to a narrow strip if it is long
 * beside the other such times and beside the rest.
 */
function timeAxis(spans, window) {
  const [from, to] = window;
  const gaps = [];
  let reached = from;
  for (const [start, end] of spans.sort((one, other) => one[0] - other[0])) {
    const until = Math.min(start, to);
    if (until > reached) gaps.push([reached, until]);
    reached = Math.max(reached, end);
  }
  const long = ([start, end]) => end - start;
  gaps.sort((one, other) => long(other) - long(one));
  const usual = gaps.length ? long(gaps[gaps.length >> 1]) : 0;
  let rest = to - from;
  const folds = [];
  for (const gap of gaps) {
    if (long(gap) < rest / 10 || long(gap) < 20 * usual || folds.length === 8) break;
    rest -= long(gap);
    folds.push(gap);
  }
  folds.sort((one, other) => one[0] - other[0]);
  // The ends of the pieces of the axis: [time, place on the axis]. Between two, the scale is linear.
  const strip = rest * 0.04;
  const ends = [[from, 0]];
  for (const [start, end] of folds) {
    const [time, place] = ends[ends.length - 1];
    ends.push([start, place + start - time], [end, place + start - time + strip]);
  }
  const [time, place] = ends[ends.length - 1];
  ends.push([to, place + to - time || 1]);
  const most = ends[ends.length - 1][1];
  const along = (value, source, target) => {
    let piece = 1;
    while (piece < ends.length - 1 && value > ends[piece][source]) piece++;
    const [one, other] = [ends[piece - 1], ends[piece]];
    const share = (value - one[source]) / (other[source] - one[source] || 1);
    return one[target] + share * (other[target] - one[target]);
  };
  return { window, folds, pieces: ends, share: (value) => along(value, 0, 1) / most, at: (share) => along(share * most, 1, 0) };
}

/** The round number of seconds, or of rows, next above one. */
function roundStep(least) {
  const minutes = [60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 604800];
  if (least > 30) return minutes.find((step) => step >= least) || least;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((one) => one * power).find((step) => step >= least * 0.999);
}

/** A time of the ruler, short enough for its place: hours, minutes and seconds where there are minutes. */
function sinceStart(seconds) {
  if (seconds < 120) return duration(seconds);
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(Math.floor);
  return parts.map((part, place) => String(part).padStart(place ? 2 : 1, "0")).join(":");
}

/** The times above the bars; a drag across them zooms. */
function ruler(axis, isTimed) {
  const element = el("span", { class: "ruler" });
  const [from, to] = axis.window;
  if (!(to > from)) return element;
  const put = (name, text, left, width) => {
    const mark = el("span", { class: name }, text);
    mark.style.left = `${left * 100}%`;
    if (width !== undefined) mark.style.width = `${width * 100}%`;
    element.append(mark);
    return mark;
  };
  const folded = axis.folds.reduce((sum, [start, end]) => sum + end - start, 0);
  const step = roundStep((to - from - folded) / 6);
  let last = -1;
  for (let piece = 0; piece < axis.pieces.length; piece += 2) {
    const [start, end] = [axis.pieces[piece][0], axis.pieces[piece + 1][0]];
    for (let time = Math.ceil(start / step) * step; time <= end; time += step) {
      const left = axis.share(time);
      if (left < last + 0.14 || left > 0.9) continue;
      put("tick", isTimed ? sinceStart(time) : String(time), left);
      last = left;
    }
  }
  for (const [start, end] of axis.folds) {
    put("fold", "", axis.share(start), axis.share(end) - axis.share(start)).title = `${duration(end - start)} without messages`;
  }
  const shareOf = (event) => {
    const { left, width } = element.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
  element.addEventListener("pointerdown", (down) => {
    const start = shareOf(down);
    const chosen = put("chosen", "", start, 0);
    let range = [start, start];
    element.setPointerCapture(down.pointerId);
    const moved = (event) => {
      range = [Math.min(start, shareOf(event)), Math.max(start, shareOf(event))];
      chosen.style.left = `${range[0] * 100}%`;
      chosen.style.width = `${(range[1] - range[0]) * 100}%`;
    };
    const ended = () => {
      chosen.remove();
      element.removeEventListener("pointermove", moved);
      if (range[1] - range[0] > 0.01) zoom(axis.at(range[0]), axis.at(range[1]));
    };
    element.addEventListener("pointermove", moved);
    element.addEventListener("lostpointercapture", ended, { once: true });
  });
  return element;
}
