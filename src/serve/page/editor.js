// The editor: colours behind the text of a text area, and a choice of terms below it.

const KEYWORDS =
  "ADD AS ASC ASK AVG BASE BIND BOUND BY COALESCE CONCAT CONSTRUCT CONTAINS COUNT DESC DESCRIBE DISTINCT EXISTS FILTER FROM GRAPH GROUP " +
  "GROUP_CONCAT HAVING IF IN LCASE LIMIT MAX MIN MINUS NAMED NOT OFFSET OPTIONAL ORDER PREFIX REDUCED REGEX REPLACE SAMPLE SELECT " +
  "SEPARATOR STR STRENDS STRLEN STRSTARTS SUBSTR SUM UCASE UNDEF UNION VALUES WHERE";
const isKeyword = new RegExp(`^(${KEYWORDS.replaceAll(" ", "|")}|a|true|false)$`, "i");
/** The tokens of SPARQL and Turtle that have a colour: IRIs, strings, comments, variables, names with a prefix, words. */
const COLOURED =
  /(?<iri><[^<>\s"{}|^`\\]*>)|(?<text>"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<note>#.*)|(?<variable>[?$]\w+)|(?<term>[A-Za-z][\w-]*:[\w.%-]*|:[\w-]+)|(?<word>[A-Za-z_]+)/g;

/** The text as nodes, with a colour for each kind of token. */
function coloured(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(COLOURED)) {
    const [kind] = Object.entries(found.groups).find(([, part]) => part !== undefined);
    if (kind === "word" && !isKeyword.test(found[0])) continue;
    nodes.push(text.slice(end, found.index), el("span", { class: `token-${kind}` }, found[0]));
    end = found.index + found[0].length;
  }
  return [...nodes, text.slice(end)];
}

const byLength = [...facts.prefixes].sort((one, other) => other[1].length - one[1].length);

/** An IRI with a prefix, where one fits. */
function shortened(iri) {
  const found = byLength.find(([, start]) => iri.startsWith(start) && /^[\w](?:[\w.-]*[\w-])?$/.test(iri.slice(start.length)));
  return found ? `${found[0]}:${iri.slice(found[1].length)}` : `<${iri}>`;
}

const TERMS = "SELECT DISTINCT ?term { { ?s ?term ?o } UNION { ?s a ?term } UNION { ?s jrpc:hasMethod ?term } } LIMIT 5000";
const MOST_CHOICES = 12;

/** Gives a text area colours and completion. Terms come from the data, and are queried when it first has the focus. */
function edit(area, colours, list) {
  let [terms, choices, active] = [null, [], 0];
  const paint = () => {
    colours.replaceChildren(...coloured(area.value), "\n");
    colours.scrollTop = area.scrollTop;
  };
  const load = async () => {
    if (terms) return;
    terms = KEYWORDS.split(" ");
    const response = await askServer(TERMS, "text/tab-separated-values").catch(() => null);
    if (!response?.ok) return;
    const found = (await response.text()).split("\n").slice(1).filter(Boolean);
    terms = [...found.map((term) => (term.startsWith("<") ? shortened(term.slice(1, -1)) : term)).sort(), ...terms];
  };
  const word = () => /[^\s{}()[\].;,]*$/.exec(area.value.slice(0, area.selectionStart))[0];
  const close = () => {
    list.hidden = true;
    choices = [];
    area.removeAttribute("aria-activedescendant");
  };
  const draw = () => {
    if (!choices.length) return close();
    const option = (term, place) => {
      const attributes = { role: "option", id: `term-${place}`, "aria-selected": String(place === active) };
      return el("li", { ...attributes, onpointerdown: (event) => (event.preventDefault(), take(place)) }, term);
    };
    list.replaceChildren(...choices.map(option));
    list.hidden = false;
    area.setAttribute("aria-activedescendant", `term-${active}`);
  };
  const suggest = (least) => {
    const typed = word().toLowerCase();
    const variables = [...new Set(area.value.match(/[?$]\w+/g))];
    const fits = (term) => {
      const name = term.toLowerCase();
      return name !== typed && (name.startsWith(typed) || name.replace(/^[\w-]*:|^"/, "").startsWith(typed));
    };
    choices = typed.length < least ? [] : [...variables, ...(terms ?? [])].filter(fits).slice(0, MOST_CHOICES);
    active = 0;
    draw();
  };
  const take = (place) => {
    const end = area.selectionStart;
    area.setRangeText(choices[place], end - word().length, end, "end");
    close();
    paint();
  };
  area.addEventListener("focus", load);
  area.addEventListener("blur", close);
  area.addEventListener("scroll", () => (colours.scrollTop = area.scrollTop));
  area.addEventListener("input", () => (paint(), suggest(2)));
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) suggest(0);
    else if (!choices.length || event.ctrlKey || event.metaKey) return;
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" || event.key === "Tab") take(active);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      active = (active + (event.key === "ArrowDown" ? 1 : choices.length - 1)) % choices.length;
      draw();
    } else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });
  return paint;
}
