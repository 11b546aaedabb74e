// Lists of any length: only the visible rows are in the document.

const ROW = 24;
/**
 * A list box of rows; `fill` puts the cells of a row into its element. `head` stays above the rows. A number below 0 is the head of a
 * group, for which `fold` returns all rows after it was folded or unfolded.
 */
function virtualList(name, label, rows, fill, fold, ...head) {
  const sheet = el("div", { class: "rows", role: "presentation" });
  const box = el("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": label }, sheet);
  const fit = () => {
    sheet.style.height = `${rows.length * ROW}px`;
    box.style.maxHeight = `${Math.max(3, rows.length) * ROW + 2}px`;
  };
  fit();
  let active = 0;
  /** The rows in the document by place. Rows that stay in view are kept. */
  const drawn = new Map();
  const make = (place) => {
    const row = el("div", { class: "row", role: "option", id: `row-${place}`, "aria-posinset": place + 1, "aria-setsize": rows.length });
    if (rows[place] >= 0) row.dataset.message = nameOf(rows[place]);
    row.style.top = `${place * ROW}px`;
    fill(rows[place], row);
    row.addEventListener("click", () => choose(place));
    return row;
  };
  /** Opens the message of a row, or folds a group. */
  const choose = (place) => {
    if (rows[place] >= 0) {
      move(place);
      return go({ open: nameOf(rows[place]) });
    }
    rows = fold(rows[place]);
    fit();
    sheet.replaceChildren();
    drawn.clear();
    move(place);
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
    const last = Math.min(rows.length, first + Math.ceil(box.clientHeight / ROW) + 10);
    for (const [place, row] of drawn) {
      if (place < first || place >= last) row.remove(), drawn.delete(place);
    }
    const selected = selectedRow(rows);
    let next = null;
    for (let place = last - 1; place >= first; place--) {
      let row = drawn.get(place);
      if (!row) {
        row = make(place);
        drawn.set(place, row);
        sheet.insertBefore(row, next);
      }
      row.classList.toggle("active", place === active);
      row.setAttribute("aria-selected", String(rows[place] === selected));
      next = row;
    }
    if (drawn.has(active)) box.setAttribute("aria-activedescendant", `row-${active}`);
    else box.removeAttribute("aria-activedescendant");
  };
  const move = (place, isCentred) => {
    active = Math.max(0, Math.min(rows.length - 1, place));
    const top = active * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    if (isCentred) box.scrollTop = top - (box.clientHeight - ROW) / 2;
    draw();
    uncover();
  };
  /** Where a message opens over the list, its row comes above it. */
  const uncover = () => {
    if (shownRow >= 0 && window.matchMedia("(max-width: 60rem)").matches) drawn.get(active)?.scrollIntoView({ block: "start" });
  };
  /** Moves by some rows. An open message makes way for that of the row. */
  const step = (places) => {
    move(active + places);
    if (shownRow >= 0 && rows[active] >= 0) go({ open: nameOf(rows[active]) }, true);
  };
  let waiting = false;
  box.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => ((waiting = false), draw()));
  });
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    if (event.key in steps) step(steps[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && rows.length) choose(active);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(draw).observe(box);
  const wrapper = el("div", { class: name }, ...head, box);
  wrapper.select = (isCentred) => {
    const place = rows.indexOf(selectedRow(rows));
    if (place >= 0) move(place, isCentred);
    else draw();
    // The parts of the page above it may still grow or shrink.
    if (isCentred) whileUntouched(uncover);
  };
  return Object.assign(wrapper, { step, focusList: () => box.focus() });
}

/** Calls a function as the page changes its size, until a reader does something. */
function whileUntouched(change) {
  const observer = new ResizeObserver(change);
  observer.observe(document.body);
  for (const event of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(event, () => observer.disconnect(), { once: true });
}

/** The row of the open message in a list; in the waterfall, an answer has the row of its request. */
const selectedRow = (rows) => (shownRow < 0 ? -1 : rows.includes(shownRow) ? shownRow : callOf(shownRow));

/** The cells above the columns of a list. */
const headCells = (...cells) => el("div", { class: "head" }, ...cells.map(([name, text]) => el("span", { class: name }, text)));
