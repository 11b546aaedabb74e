// Full-text search: a worker inflates the pieces and looks for words in the text of each row.

/** The program of the worker. It has no access to what stands around it. */
function searcher(inflated) {
  let [rows, pieces, latest] = [null, null, 0];
  const unescaped = (text) => text.replace(/\\u([0-9a-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  /** The text of a row, or of its place in a batch. */
  const textOf = (bytes, row) => {
    const text = new TextDecoder().decode(bytes.subarray(rows.start[row], rows.start[row] + rows.length[row]));
    try {
      return rows.place[row] ? JSON.stringify(JSON.parse(text)[rows.place[row] - 1]) : unescaped(text);
    } catch {
      return text;
    }
  };
  const search = async ({ number, words }) => {
    latest = number;
    // JSON spells some characters of a text with a backslash.
    const spellings = words.map(({ value, isExact }) => {
      const word = isExact ? value : value.toLowerCase();
      return { isExact, either: [word, JSON.stringify(word).slice(1, -1)] };
    });
    const found = new Uint32Array(rows.start.length);
    for (const [piece, compressed] of pieces) {
      const bytes = await inflated(compressed);
      if (latest !== number) return;
      for (const row of rows.byPiece.get(piece) ?? []) {
        const text = textOf(bytes, row);
        const folded = text.toLowerCase();
        spellings.forEach(({ isExact, either }, bit) => {
          if (either.some((word) => (isExact ? text : folded).includes(word))) found[row] |= 1 << bit;
        });
      }
    }
    postMessage({ number, found });
  };
  self.onmessage = ({ data }) => {
    if (data.rows) ({ rows, pieces } = data);
    else search(data);
  };
}

const MOST_WORDS = 31;
let search = null;

/** Starts the worker with all pieces of the page. */
function startSearch() {
  const byPiece = new Map();
  index.piece.forEach((piece, row) => {
    if (piece && !byPiece.has(piece)) byPiece.set(piece, []);
    if (piece) byPiece.get(piece).push(row);
  });
  const pieces = [...byPiece.keys()].map((piece) => [piece, source.piece(piece)]);
  const place = Uint32Array.from(index.kind, (_, row) => placeInBatch(row));
  const [start, length] = [Uint32Array.from(index.start), Uint32Array.from(index.length)];
  const url = URL.createObjectURL(new Blob([`(${searcher})(${inflated})`], { type: "text/javascript" }));
  search = { worker: new Worker(url), number: 0, words: "", found: null };
  search.worker.postMessage({ rows: { start, length, place, byPiece }, pieces });
}

function stopSearch() {
  search?.worker.terminate();
  search = null;
}

/** For each row, a bit for each of the words that its text has; null if the worker cannot run. */
function searchTexts(words) {
  if (!search) startSearch();
  const key = JSON.stringify(words);
  if (search.words === key) return search.found;
  const [{ worker }, number] = [search, ++search.number];
  search.words = key;
  search.found = new Promise((resolve) => {
    worker.addEventListener("message", ({ data }) => data.number === number && resolve(data.found));
    worker.addEventListener("error", () => resolve(null));
  });
  worker.postMessage({ number, words });
  return search.found;
}
