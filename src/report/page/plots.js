// Plots, each with a table of the same numbers beside it.

/** Calls by tool or method: how many, how many failed, how long they took, and their bytes with those of their answers. */
function byMethod(rows) {
  const all = (calls, sum) => calls.reduce((total, row) => total + sum(row), 0);
  return grouped(rows.filter(isCall), GROUPS.tool).map(({ name, rows: calls }) => {
    const answers = calls.map((row) => answer[row]).filter((end) => end >= 0);
    const ends = answers.filter((end) => index.latency[end] !== null);
    return {
      name,
      calls: calls.length,
      failures: answers.filter(isFailure).length,
      bytes: all(calls.concat(answers), (row) => index.length[row]),
      latencies: ends.map((end) => index.latency[end]),
      ends,
    };
  });
}

const MOST_METHODS = 25;
/** The size of a dot, in pixels; that of a failure is twice as large. */
const DOT = 3;

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  element.append(...children);
  return element;
}

function table(heads, rows) {
  const cell = (name, value, place) =>
    el(name, { class: place ? "number" : "", scope: name === "th" ? "col" : null }, value instanceof Node ? value : String(value));
  const head = el("thead", {}, el("tr", {}, ...heads.map((value, place) => cell("th", value, place))));
  const body = el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((value, place) => cell("td", value, place)))));
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${heads.join(", ")}` },
    el("table", {}, head, body),
  );
}

function figure(title, picture, ...rest) {
  return el("figure", {}, el("figcaption", {}, title), picture, ...rest.filter(Boolean));
}

/** The plots, drawn for the width of the view, so that their text has the size of other text. */
function plots(rows) {
  const methods = byMethod(rows).sort((one, other) => other.calls - one.calls);
  const all = el("div", { class: "plots" });
  let drawn = 0;
  new ResizeObserver(async () => {
    const width = Math.max(240, Math.min(1100, Math.floor(all.getBoundingClientRect().width)));
    if (width === drawn) return;
    drawn = width;
    all.replaceChildren();
    for (const draw of [() => latencies(methods, width), () => inFlight(rows, width), () => sizes(methods, width)]) {
      all.append(draw());
      await pause(rows);
      if (drawn !== width) return;
    }
  }).observe(all);
  return all;
}

/** An empty picture; a pixel of it is one of the page. */
const drawing = (width, height, label) =>
  svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });

const text = (content, attributes) => svg("text", attributes, visible(content));

/** A picture above dots on a canvas, of which there may be many: their places, and whether they are failures. */
function dotted(picture, dots) {
  const [width, height] = ["width", "height"].map((side) => Number(picture.getAttribute(side)));
  const scale = window.devicePixelRatio || 1;
  const canvas = el("canvas", { width: width * scale, height: height * scale, "aria-hidden": "true" });
  canvas.style.width = `${width}px`;
  const context = canvas.getContext("2d");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  context.scale(scale, scale);
  context.globalAlpha = 0.55;
  context.fillStyle = colour("--bar");
  for (const [x, y, failed] of dots) if (!failed) context.fillRect(x - DOT / 2, y - DOT / 2, DOT, DOT);
  context.globalAlpha = 1;
  context.fillStyle = colour("--bar-bad");
  for (const [x, y, failed] of dots) if (failed) context.fillRect(x - DOT, y - DOT, 2 * DOT, 2 * DOT);
  return el("div", { class: "dotted" }, canvas, picture);
}

/** The width of names at the left of a plot, and a name that fits there. */
const nameWidth = (width) => Math.min(200, Math.round(width * 0.35));
function named(name, width, y) {
  const most = Math.floor(nameWidth(width) / 7);
  return text(name.length > most ? `${name.slice(0, most - 1)}…` : name, { x: nameWidth(width) - 10, y, "text-anchor": "end" });
}

function latencies(methods, width) {
  const shown = methods.filter((one) => one.latencies.length).slice(0, MOST_METHODS);
  if (!shown.length) return figure("Latency by tool or method", el("p", {}, "No request and answer have times."));
  const all = shown.flatMap((one) => one.latencies).filter((seconds) => seconds > 0);
  const least = Math.log10(all.reduce((one, other) => Math.min(one, other), Infinity));
  const most = Math.log10(all.reduce((one, other) => Math.max(one, other), 0));
  const [from, to] = all.length ? [Math.floor(least), Math.max(Math.floor(least) + 1, Math.ceil(most))] : [-3, 0];
  const start = nameWidth(width);
  const x = (seconds) => start + ((Math.log10(Math.max(seconds, 10 ** from)) - from) / (to - from)) * (width - start - 30);
  const height = shown.length * 24 + 40;
  const picture = drawing(width, height, "Latency of each call by tool or method, on a logarithmic scale");
  for (let power = from; power <= to; power++) {
    picture.append(svg("line", { class: "axis", x1: x(10 ** power), x2: x(10 ** power), y1: 0, y2: height - 24 }));
    picture.append(text(duration(10 ** power), { x: x(10 ** power), y: height - 8, "text-anchor": "middle" }));
  }
  const dots = [];
  const lines = shown.map((one, place) => {
    const y = place * 24 + 14;
    picture.append(named(one.name, width, y + 4));
    // Dots of one place stand below each other.
    one.latencies.forEach((seconds, number) => dots.push([x(seconds), y - 6 + ((number * 7) % 13), isFailure(one.ends[number])]));
    const sorted = [...one.latencies].sort((low, high) => low - high);
    const [half, late] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
    picture.append(
      svg("line", { class: "half", x1: x(half), x2: x(half), y1: y - 9, y2: y + 9 }),
      svg("line", { class: "most", x1: x(late), x2: x(late), y1: y - 9, y2: y + 9 }),
    );
    return [
      one.name,
      ...[one.calls, one.failures, one.latencies.length].map(thousands),
      duration(half),
      duration(late),
      duration(sorted[sorted.length - 1]),
    ];
  });
  return figure(
    "Latency by tool or method",
    dotted(picture, dots),
    el("p", { class: "faint" }, "A dot a call; larger ones failed. The first stroke is the median, the second the 95th percentile."),
    table(["tool or method", "calls", "failures", "timed", "median", "p95", "longest"], lines),
  );
}

/** The number of steps of a plot over time, of each of which the most is drawn, so that a long log is no longer to draw. */
const STEPS = 4000;

/** The most at once in each step, of changes by time; and where the most of all is. */
function levels(changes, stepOf) {
  changes.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const steps = new Array(STEPS).fill(0);
  let [now, last, most, when] = [0, 0, 0, null];
  for (const [time, change] of changes) {
    const step = stepOf(time);
    if (step > last) steps.fill(now, last + 1, step + 1);
    last = Math.max(last, step);
    now += change;
    steps[last] = Math.max(steps[last], now);
    if (now > most) [most, when] = [now, time];
  }
  return { steps: steps.fill(now, last + 1), most, when };
}

function inFlight(rows, width) {
  const calls = rows.filter((row) => isRequest(row) && timeOf(row) !== null);
  if (!calls.length) return figure("In flight", el("p", {}, "No requests have times."));
  const [from, to] = spanOf(state()) ?? bounds;
  const share = (time) => Math.max(0, Math.min(1, (time - from) / (to - from || 1)));
  const stepOf = (time) => Math.floor(share(time) * (STEPS - 1));
  // An answer, a cancellation or a restart ends a call; nothing says when the dead ended.
  const dead = calls.filter((row) => endOf(row) === null);
  const living = calls.filter((row) => endOf(row) !== null);
  const isLong = (row) => endOf(row) > timeOf(row);
  const flight = levels(
    living.filter(isLong).flatMap((row) => [
      [timeOf(row), 1],
      [endOf(row), -1],
    ]),
    stepOf,
  );
  const below = levels(
    dead.map((row) => [timeOf(row), 1]),
    stepOf,
  ).steps;
  const failed = living.filter((row) => statusOf(row) === "failed").map(endOf);
  const above = flight.steps.map((count, step) => count + below[step]);
  const most = above.reduce((one, other) => Math.max(one, other), 1);
  const y = (count) => 160 - (count / most) * 140;
  const x = (part) => 40 + part * (width - 60);
  const points = (counts) => counts.map((count, step) => `${x(step / (STEPS - 1)).toFixed(1)},${y(count).toFixed(1)}`);
  const picture = drawing(width, 200, "Calls in flight over time, above those that were never answered, and failures");
  if (dead.length) picture.append(svg("polygon", { class: "dead", points: [`${x(0)},160`, ...points(below), `${x(1)},160`].join(" ") }));
  picture.append(
    svg("line", { class: "axis", x1: x(0), x2: x(1), y1: 160, y2: 160 }),
    svg("polyline", { class: "line", points: points(above).join(" ") }),
  );
  for (const [label, place, line, anchor] of [
    [thousands(most), 34, 24, "end"],
    ["0", 34, 164, "end"],
    [clockTime(from, areDays), x(0), 190, "start"],
    [clockTime(to, areDays), x(1), 190, "end"],
  ])
    picture.append(text(label, { x: place, y: line, "text-anchor": anchor }));
  return figure(
    "In flight",
    dotted(
      picture,
      failed.map((time) => [x(share(time)), 170, true]),
    ),
    el(
      "p",
      { class: "faint" },
      "The line counts the calls until their answer, their cancellation or the restart of their connection.",
      dead.length ? " The band below it counts those that nothing ended, which stay in it." : "",
    ),
    table(
      ["what", "number"],
      [
        ["most at once", thousands(flight.most)],
        ...(flight.when === null ? [] : [["at", clockTime(flight.when, areDays)]]),
        ["failures", thousands(failed.length)],
        ["never answered", thousands(dead.length)],
      ],
    ),
  );
}

function sizes(methods, width) {
  const shown = [...methods].sort((one, other) => other.bytes - one.bytes).slice(0, MOST_METHODS);
  if (!shown.length) return figure("Bytes by tool or method", el("p", {}, "There are no calls."));
  const most = shown[0].bytes || 1;
  const picture = drawing(width, shown.length * 22 + 6, "Bytes of calls and answers by tool or method");
  const start = nameWidth(width);
  shown.forEach((one, place) => {
    const bar = Math.max(1, (one.bytes / most) * (width - start - 10));
    picture.append(
      named(one.name, width, place * 22 + 17),
      svg("rect", { class: "fill", x: start, y: place * 22 + 5, width: bar, height: 14 }),
    );
  });
  return figure(
    "Bytes by tool or method",
    picture,
    table(
      ["tool or method", "calls", "bytes"],
      shown.map((one) => [one.name, thousands(one.calls), bytes(one.bytes)]),
    ),
  );
}
