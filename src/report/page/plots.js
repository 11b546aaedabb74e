// Plots, each with a table of the same numbers beside it.

const MOST_METHODS = 25;
const MOST_DOTS = 20000;

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  element.append(...children);
  return element;
}

function table(heads, rows) {
  const cell = (name, value, place) => el(name, { class: place ? "number" : "", scope: name === "th" ? "col" : null }, String(value));
  const head = el("thead", {}, el("tr", {}, ...heads.map((value, place) => cell("th", value, place))));
  const body = el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((value, place) => cell("td", value, place)))));
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${heads.join(", ")}` },
    el("table", {}, head, body),
  );
}

function figure(title, picture, ...rest) {
  return el("figure", {}, el("figcaption", {}, title), picture, ...rest);
}

function plots(rows) {
  const methods = byMethod(rows).sort((one, other) => other.calls - one.calls);
  return el("div", { class: "plots" }, latencies(methods), inFlight(rows), sizes(methods));
}

function latencies(methods) {
  const shown = methods.filter((one) => one.latencies.length).slice(0, MOST_METHODS);
  if (!shown.length) return figure("Latency by method", el("p", {}, "No request and answer have times."));
  const all = shown.flatMap((one) => one.latencies).filter((seconds) => seconds > 0);
  const least = Math.log10(all.reduce((one, other) => Math.min(one, other), Infinity));
  const most = Math.log10(all.reduce((one, other) => Math.max(one, other), 0));
  const [from, to] = all.length ? [Math.floor(least), Math.max(Math.floor(least) + 1, Math.ceil(most))] : [-3, 0];
  const x = (seconds) => 210 + ((Math.log10(Math.max(seconds, 10 ** from)) - from) / (to - from)) * 560;
  const height = shown.length * 24 + 40;
  const picture = svg("svg", {
    viewBox: `0 0 800 ${height}`,
    role: "img",
    "aria-label": "Latency of each call by method, on a logarithmic scale",
  });
  for (let power = from; power <= to; power++) {
    picture.append(svg("line", { class: "axis", x1: x(10 ** power), x2: x(10 ** power), y1: 0, y2: height - 24 }));
    const label = svg("text", { x: x(10 ** power), y: height - 8, "text-anchor": "middle" });
    label.textContent = duration(10 ** power);
    picture.append(label);
  }
  const calls = shown.reduce((sum, one) => sum + one.latencies.length, 0);
  const every = Math.max(1, Math.ceil(calls / MOST_DOTS));
  const lines = shown.map((one, place) => {
    const y = place * 24 + 14;
    const label = svg("text", { x: 200, y: y + 4, "text-anchor": "end" });
    label.textContent = visible(one.name.length > 30 ? `${one.name.slice(0, 29)}…` : one.name);
    picture.append(label);
    one.latencies.forEach((seconds, number) => {
      const failed = isFailure(one.ends[number]);
      if (number % every === 0 || failed)
        picture.append(svg("circle", { class: failed ? "dot failed" : "dot", cx: x(seconds), cy: y, r: failed ? 4 : 3 }));
    });
    const sorted = [...one.latencies].sort((low, high) => low - high);
    const [half, late] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
    picture.append(
      svg("line", { class: "half", x1: x(half), x2: x(half), y1: y - 9, y2: y + 9 }),
      svg("line", { class: "most", x1: x(late), x2: x(late), y1: y - 9, y2: y + 9 }),
    );
    return [one.name, one.calls, one.failures, duration(half), duration(late), duration(sorted[sorted.length - 1])];
  });
  const note =
    every > 1
      ? `Of ${calls} calls each ${every}th has a dot.`
      : "A dot a call; larger ones failed. The first stroke is the median, the second the 95th percentile.";
  return figure(
    "Latency by method",
    picture,
    el("p", { class: "faint" }, note),
    table(["method", "calls", "failures", "median", "p95", "longest"], lines),
  );
}

function inFlight(rows) {
  const changes = [];
  const failed = [];
  for (const row of rows) {
    if (index.kind[row] !== KIND.request || index.time[row] === null) continue;
    changes.push([index.time[row], 1]);
    const end = answer[row];
    if (end >= 0 && index.latency[end] !== null) {
      changes.push([index.time[row] + index.latency[end], -1]);
      if (isFailure(end)) failed.push(index.time[row] + index.latency[end]);
    }
  }
  if (changes.length < 2) return figure("In flight", el("p", {}, "No requests have times."));
  changes.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const [from, to] = [changes[0][0], changes[changes.length - 1][0]];
  let [now, most, when] = [0, 0, from];
  // Of each fifth of a pixel the most, so that a long log is no longer to draw.
  const steps = new Array(4000).fill(0);
  let last = 0;
  for (const [time, change] of changes) {
    const step = Math.min(3999, Math.floor(((time - from) / (to - from || 1)) * 3999));
    for (let between = last + 1; between <= step; between++) steps[between] = now;
    last = step;
    now += change;
    steps[step] = Math.max(steps[step], now);
    if (now > most) [most, when] = [now, time];
  }
  const y = (count) => 160 - (count / (most || 1)) * 140;
  const points = steps.map((count, step) => `${40 + (step / 3999) * 740},${y(count)}`).join(" ");
  const picture = svg("svg", { viewBox: "0 0 800 200", role: "img", "aria-label": "Requests in flight over time, and failures" });
  picture.append(svg("line", { class: "axis", x1: 40, x2: 780, y1: 160, y2: 160 }), svg("polyline", { class: "line", points }));
  for (const [text, x, place, anchor] of [
    [String(most), 34, 24, "end"],
    ["0", 34, 164, "end"],
    ["0 s", 40, 190, "start"],
    [duration(to - from), 780, 190, "end"],
  ]) {
    const label = svg("text", { x, y: place, "text-anchor": anchor });
    label.textContent = text;
    picture.append(label);
  }
  failed
    .slice(0, MOST_DOTS)
    .forEach((time) =>
      picture.append(svg("circle", { class: "dot failed", cx: 40 + ((time - from) / (to - from || 1)) * 740, cy: 170, r: 3 })),
    );
  return figure(
    "In flight",
    picture,
    table(
      ["what", "number"],
      [
        ["most at once", most],
        ["after", duration(when - from)],
        ["failures", failed.length],
      ],
    ),
  );
}

function sizes(methods) {
  const shown = [...methods].sort((one, other) => other.bytes - one.bytes).slice(0, MOST_METHODS);
  if (!shown.length) return figure("Bytes by method", el("p", {}, "There are no calls."));
  const most = shown[0].bytes || 1;
  const picture = svg("svg", {
    viewBox: `0 0 800 ${shown.length * 22 + 6}`,
    role: "img",
    "aria-label": "Bytes of calls and answers by method",
  });
  shown.forEach((one, place) => {
    const label = svg("text", { x: 200, y: place * 22 + 17, "text-anchor": "end" });
    label.textContent = visible(one.name.length > 30 ? `${one.name.slice(0, 29)}…` : one.name);
    picture.append(
      label,
      svg("rect", { class: "fill", x: 210, y: place * 22 + 5, width: Math.max(1, (one.bytes / most) * 580), height: 14 }),
    );
  });
  return figure(
    "Bytes by method",
    picture,
    table(
      ["method", "calls", "bytes"],
      shown.map((one) => [one.name, one.calls, bytes(one.bytes)]),
    ),
  );
}
