// The strip of time, which is in the file as SVG: a drag, a touch and the arrow keys choose a span.

const strip = () => document.querySelector("[data-part=strip]");

/** Marks the chosen span on the strip. */
function drawSpan(span) {
  const mark = strip()?.querySelector(".chosen");
  if (!mark) return;
  mark.hidden = !span;
  if (span) placeMark(mark, ...span);
}

const shareOf = (time) => Math.max(0, Math.min(1, (time - bounds[0]) / (bounds[1] - bounds[0])));

function placeMark(mark, from, to) {
  mark.style.left = `${shareOf(from) * 100}%`;
  mark.style.width = `${(shareOf(to) - shareOf(from)) * 100}%`;
}

const choose = (from, to, replaces) => go({ from: String(+from.toFixed(3)), to: String(+to.toFixed(3)) }, replaces);

function listenToStrip() {
  const box = strip();
  if (!box) return;
  const mark = el("span", { class: "chosen", hidden: "" });
  box.append(mark);
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Strip of time: a drag or the arrow keys choose a span, with Shift its end; Escape takes all");
  const timeAt = (event) => {
    const { left, width } = box.getBoundingClientRect();
    return bounds[0] + Math.max(0, Math.min(1, (event.clientX - left) / width)) * (bounds[1] - bounds[0]);
  };
  box.addEventListener("pointerdown", (down) => {
    const start = timeAt(down);
    let range = null;
    box.setPointerCapture(down.pointerId);
    const moved = (event) => {
      range = [start, timeAt(event)].sort((one, other) => one - other);
      mark.hidden = false;
      placeMark(mark, ...range);
    };
    const ended = () => {
      box.removeEventListener("pointermove", moved);
      if (range && shareOf(range[1]) - shareOf(range[0]) > 0.003) choose(...range);
      else drawSpan(spanOf(state()));
    };
    box.addEventListener("pointermove", moved);
    box.addEventListener("lostpointercapture", ended, { once: true });
  });
  const all = () => go({ from: null, to: null });
  box.addEventListener("dblclick", all);
  box.addEventListener("keydown", (event) => {
    const step = ({ ArrowRight: 1, ArrowLeft: -1 }[event.key] * (bounds[1] - bounds[0])) / 60;
    const span = spanOf(state());
    if (event.key === "Escape" && span) all();
    else if (!step) return;
    else if (!span) choose(...(step > 0 ? [bounds[0], bounds[0] + step] : [bounds[1] + step, bounds[1]]));
    else {
      const from = event.shiftKey ? span[0] : Math.max(bounds[0], span[0] + step);
      const to = Math.min(bounds[1], span[1] + step);
      if (to > from) choose(from, to, true);
    }
    event.preventDefault();
    event.stopPropagation();
  });
}
