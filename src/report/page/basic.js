// Shared by all pages: facts, elements, and numbers in words.

const facts = JSON.parse(document.getElementById("facts").textContent);

/** Asks the server of this page. */
const askServer = (query, accept, signal) =>
  fetch("sparql", { method: "POST", headers: { "Content-Type": "application/sparql-query", Accept: accept }, body: query, signal });

/** Seconds as people read them. */
function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds === 0) return "0 s";
  if (seconds < 0.0005) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${Number((seconds * 1e3).toPrecision(3))} ms`;
  if (seconds < 120) return `${seconds.toFixed(2)} s`;
  const [minutes, rest] = [Math.floor(Math.round(seconds) / 60), Math.round(seconds) % 60];
  return rest ? `${minutes} min ${rest} s` : `${minutes} min`;
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
