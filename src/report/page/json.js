// JSON as it is written: numbers keep their digits, members their order, and what is no JSON is told from what is.

const TOKEN = /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
const MOST_DEPTH = 1100;

/** A tree of `{ kind, raw | text | items | members }`; null where the text is no JSON. */
function parseTree(text) {
  TOKEN.lastIndex = 0;
  const next = () => {
    const found = TOKEN.exec(text);
    if (!found) throw new SyntaxError("no JSON");
    return found;
  };
  const value = ([, mark, string, plain], depth) => {
    if (depth > MOST_DEPTH) throw new SyntaxError("too deep");
    if (string !== undefined) return { kind: "string", text: JSON.parse(string) };
    if (plain !== undefined) return { kind: "plain", raw: plain };
    if (mark !== "{" && mark !== "[") throw new SyntaxError("no JSON");
    const close = mark === "{" ? "}" : "]";
    const tree = mark === "{" ? { kind: "object", members: [] } : { kind: "array", items: [] };
    let token = next();
    if (token[1] === close) return tree;
    for (;;) {
      if (mark === "{") {
        if (token[2] === undefined || next()[1] !== ":") throw new SyntaxError("no JSON");
        tree.members.push([JSON.parse(token[2]), value(next(), depth + 1)]);
      } else {
        tree.items.push(value(token, depth + 1));
      }
      const after = next()[1];
      if (after === close) return tree;
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
const OPEN_DEPTH = 3;

/** A value to look at; objects and arrays fold, and are made when they are opened. */
function treeView(tree, key, depth) {
  const name = key === null ? [] : [el("span", { class: "key" }, JSON.stringify(key)), ": "];
  if (tree.kind === "plain") return el("div", { class: "leaf" }, ...name, tree.raw);
  if (tree.kind === "string") return el("div", { class: "leaf" }, ...name, stringView(tree.text));
  const children = tree.kind === "object" ? tree.members : tree.items.map((item, place) => [place, item]);
  const [left, right] = tree.kind === "object" ? "{}" : "[]";
  if (!children.length) return el("div", { class: "leaf" }, ...name, left + right);
  const what = tree.kind === "object" ? "member" : "element";
  const details = el("details", {}, el("summary", {}, ...name, `${left} ${counted(children.length, what)} ${right}`));
  let made = 0;
  const more = () => {
    const some = children.slice(made, made + SHOWN_ITEMS);
    made += some.length;
    details.append(...some.map(([child, value]) => treeView(value, child, depth + 1)));
    if (made < children.length) {
      const button = el("button", { type: "button" }, `${counted(children.length - made, what)} more`);
      button.addEventListener("click", () => (button.remove(), more()));
      details.append(button);
    }
  };
  details.addEventListener("toggle", () => details.open && !made && more());
  details.fill = () => made || more();
  if (depth < OPEN_DEPTH) (details.open = true), more();
  return details;
}

function stringView(text) {
  const quoted = JSON.stringify(text.length > SHOWN_TEXT ? text.slice(0, SHOWN_TEXT) : text);
  const span = el("span", { class: "string" }, visible(quoted));
  if (text.length > SHOWN_TEXT) span.append(el("span", { class: "faint" }, ` … ${text.length - SHOWN_TEXT} characters more`));
  return span;
}

/** The text with what turns or hides text spelled out. */
function visible(text) {
  const spelled = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(/[\u0080-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, spelled);
}
