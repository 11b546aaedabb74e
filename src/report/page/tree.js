// JSON as it is written: numbers keep their digits, members their order, and what is no JSON is told from what is.

const TOKEN = /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
const MOST_DEPTH = 1100;

/**
 * A tree of `{ kind, raw | text | items | members, start, end, size }`, with the place in the text and the number of
 * values; null where the text is no JSON.
 */
function parseTree(text) {
  TOKEN.lastIndex = 0;
  const next = () => {
    const found = TOKEN.exec(text);
    if (!found) throw new SyntaxError("no JSON");
    return found;
  };
  const value = ([, mark, string, plain], depth) => {
    if (depth > MOST_DEPTH) throw new SyntaxError("too deep");
    const end = TOKEN.lastIndex;
    const start = end - (mark ?? string ?? plain).length;
    if (string !== undefined) return { kind: "string", text: JSON.parse(string), start, end, size: 1 };
    if (plain !== undefined) return { kind: "plain", raw: plain, start, end, size: 1 };
    if (mark !== "{" && mark !== "[") throw new SyntaxError("no JSON");
    const close = mark === "{" ? "}" : "]";
    const tree = { ...(mark === "{" ? { kind: "object", members: [] } : { kind: "array", items: [] }), start, size: 1 };
    const done = () => Object.assign(tree, { end: TOKEN.lastIndex });
    const child = (from) => {
      const one = value(from, depth + 1);
      tree.size += one.size;
      return one;
    };
    let token = next();
    if (token[1] === close) return done();
    for (;;) {
      if (mark === "{") {
        if (token[2] === undefined || next()[1] !== ":") throw new SyntaxError("no JSON");
        tree.members.push([JSON.parse(token[2]), child(next())]);
      } else {
        tree.items.push(child(token));
      }
      const after = next()[1];
      if (after === close) return done();
      if (after !== ",") throw new SyntaxError("no JSON");
      token = next();
    }
  };
  try {
    const tree = value(next(), 0);
    return text.slice(TOKEN.lastIndex).trim() === "" ? tree : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

const SHOWN_TEXT = 10000;
const SHOWN_ITEMS = 200;
/** Values of at most this size, and those at the top, are open from the start. */
const SMALL = 40;

/** The values in a value, each with its key. */
const childrenOf = (tree) => tree.members ?? tree.items?.map((item, place) => [place, item]) ?? [];

/** A value to look at; objects and arrays fold, and are made when they are opened. `path` has the places of its parents. */
function treeView(tree, key, path) {
  const name = key === null ? [] : [el("span", { class: "key" }, visible(JSON.stringify(key))), ": "];
  const children = childrenOf(tree);
  let element;
  if (!children.length) {
    const text = { plain: () => [tree.raw], string: () => stringView(tree.text), text: () => stringView(tree.text, "") }[tree.kind];
    element = el("div", { class: "leaf", tabindex: "-1" }, ...name, ...(text ? text() : [tree.kind === "object" ? "{}" : "[]"]));
  } else {
    const [left, right] = tree.kind === "object" ? "{}" : "[]";
    const what = tree.kind === "object" ? "member" : "element";
    element = el("details", {}, el("summary", {}, ...name, `${left} ${counted(children.length, what)} ${right}`));
    let made = 0;
    const more = () => {
      const some = children.slice(made, made + SHOWN_ITEMS);
      element.append(...some.map(([child, value], place) => treeView(value, child, [...path, made + place])));
      made += some.length;
      if (made >= children.length) return;
      const button = el("button", { type: "button" }, `${counted(children.length - made, what)} more`);
      button.addEventListener("click", () => (button.remove(), more()));
      element.append(button);
    };
    element.addEventListener("toggle", () => element.open && !made && more());
    /** Returns the element of a child, made and shown where it was not. */
    element.child = (place) => {
      element.open = true;
      while (made <= place) {
        if (made) element.lastChild.remove();
        more();
      }
      return element.children[place + 1];
    };
    if (path.length < 2 || tree.size <= SMALL) (element.open = true), more();
  }
  return Object.assign(element, { path });
}

/** A text with its line breaks; only the beginning of a long one, until the rest is asked for. */
function stringView(text, quote = '"') {
  const span = el("span", { class: quote && "string" }, quote, visible(text.slice(0, SHOWN_TEXT)));
  if (text.length <= SHOWN_TEXT) {
    span.append(quote);
    return [span];
  }
  const rest = counted(text.length - SHOWN_TEXT, "character");
  const button = el("button", { type: "button", class: "rest" }, `${rest} more`);
  button.addEventListener("click", () => (span.append(visible(text.slice(SHOWN_TEXT))), button.remove()));
  return [span, button];
}

/** The text with the characters spelled out that turn or hide text. */
function visible(text) {
  const spelled = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, spelled);
}

/** The paths of the values whose key or own text contains a text, in order. */
function placesOf(tree, wanted, key, path, places) {
  const has = (text) => text.toLowerCase().includes(wanted);
  if (has(tree.text ?? tree.raw ?? "") || (typeof key === "string" && has(key))) places.push(path);
  childrenOf(tree).forEach(([name, value], place) => placesOf(value, wanted, name, [...path, place], places));
  return places;
}

/** Returns the value at a path, with its key and the keys on the way to it. */
function valueAt(tree, path) {
  let [key, value] = [null, tree];
  const keys = [];
  for (const place of path) {
    [key, value] = childrenOf(value)[place];
    keys.push(key);
  }
  return { key, value, keys };
}

/** Opens what stands around the value at a path, marks the text in it, and scrolls there. */
function reveal(root, path, wanted) {
  let element = root;
  for (const place of path) element = element.child(place);
  const own = element.matches("details") ? element.firstChild : element;
  const fold = own.querySelector(".rest");
  if (fold && !own.textContent.toLowerCase().includes(wanted)) fold.click();
  own.classList.add("found");
  const texts = document.createTreeWalker(own, NodeFilter.SHOW_TEXT);
  let range = null;
  for (let node = texts.nextNode(); node && !range; node = texts.nextNode()) {
    const start = node.data.toLowerCase().indexOf(wanted);
    if (start < 0) continue;
    range = new Range();
    range.setStart(node, start);
    range.setEnd(node, Math.min(node.length, start + wanted.length));
  }
  own.scrollIntoView({ block: "nearest", behavior: "instant" });
  if (range) {
    CSS.highlights?.set("found", new Highlight(range));
    // The text may be far from the beginning of a long value.
    const [place, frame] = [range.getBoundingClientRect(), panel.getBoundingClientRect()];
    if (place.bottom > frame.bottom || place.top < frame.top) panel.scrollTop += place.top - frame.top - frame.height / 2;
  }
  return element;
}
