// Shared by all pages: facts, elements, and numbers in words.

const facts = JSON.parse(document.getElementById("facts").textContent);

/** Asks the server of this page. */
const askServer = (query, accept, signal) =>
  fetch("sparql", { method: "POST", headers: { "Content-Type": "application/sparql-query", Accept: accept }, body: query, signal });

/** Seconds as people read them, as on a terminal: `6.0 ms`, `111 ms`, `1.62 s`, `3 min 12 s`, `1 h 0 min`, `3 d 4 h`. */
function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds === 0) return "0 s";
  if (seconds < 0.0009995) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 0.00995) return `${(seconds * 1e3).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${(seconds * 1e3).toFixed(0)} ms`;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.5) return `${Number(seconds.toFixed(1))} s`;
  const pair = (large, of, small, part) => {
    const parts = Math.round(seconds / part);
    return `${Math.floor((parts * part) / of)} ${large} ${((parts * part) % of) / part} ${small}`;
  };
  if (seconds < 3599.5) return pair("min", 60, "s", 1);
  return seconds < 86370 ? pair("h", 3600, "min", 60) : pair("d", 86400, "h", 3600);
}

function bytes(count) {
  if (count < 1000) return `${count} B`;
  const units = ["kB", "MB", "GB"];
  let unit = -1;
  while (count >= 999.5 && unit < 2) (count /= 1000), unit++;
  return `${count.toPrecision(3)} ${units[unit]}`;
}

const thousands = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

const counted = (count, one) => `${thousands(count)} ${one}${count === 1 ? "" : "s"}`;

/** An element with attributes, and texts or elements in it. Texts stay texts. */
function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** The value at a share of sorted numbers, by the nearest rank. */
const percentile = (sorted, share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
