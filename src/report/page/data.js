// The data of the page: the index, and the texts, of which a piece is inflated when one of its texts is looked at.

const KIND = { request: 0, notification: 1, response: 2, error: 3, invalid: 4, malformed: 5, text: 6, exchange: 7 };
const KINDS = ["request", "notification", "response", "error", "not JSON-RPC", "not JSON", "text between messages", "HTTP exchange"];
/** Why nothing answers a request, or its answer does not count, by the number in the index, and in words. */
const STATES = ["", "cancelled", "unanswered", "open", "waiting", "superseded", "outdated", "uncaptured", "lost"];
const STATE_WORDS = [
  "",
  "cancelled",
  "no answer",
  "no answer, log ended",
  "waiting",
  "no answer, id reused",
  "outdated",
  "not in this log",
  "no answer, lost in a restart",
];
const SENDERS = ["unknown", "client", "server"];

/** Where the data comes from: `facts`, and the compressed `index` and `piece(number)`, in Base64. */
let source;
const pieces = new Map();

/** A page with its data, such as this one. */
function documentSource(page) {
  const data = (id) => page.getElementById(id).textContent;
  const facts = JSON.parse(page.getElementById("facts").textContent);
  const front = page.getElementById("front");
  return { facts, front, index: data("index"), piece: (number) => data(`piece-${number}`) };
}

/** The server of this page, whose logs may have grown. */
async function serverSource() {
  const response = await fetch("./");
  if (!response.ok) throw new Error(await response.text());
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return documentSource(page);
}

/** The bytes of compressed data in Base64. */
async function inflated(encoded) {
  if (!("DecompressionStream" in self)) throw new Error("it needs Chrome 80, Firefox 113, Safari 16.4, or a later browser");
  const text = atob(encoded);
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** What the program knows of the logs: columns, which all but `texts` and `logs` are, have a value for each row. In the file, a value
 * that all rows share is written once, numbers that grow are differences, times are in millionths of a second, texts of an answer
 * are differences from those of its request, and each text of the page begins so far behind the one before. */
let index;
/** For each row that of its answer, or -1. */
let answer;
/** For each row the row that ended it without an answer of its own, or -1. */
let endedBy;
/** For each row the number of its log. */
let logOf;
/** The connections by log and session: a label that sessions of one connection share, a name to show, whether it restarted, its
 * first row, and the first time in it. */
let connections;
/** For each row its connection, and the word for how it ended, where that was asked. */
let connectionOfRow;
let statuses;
/** The first and the last time, and whether they are on several days. */
let bounds;
let areDays;
/** The operations of several requests, by the log and the name of the first. */
let operations;

/** Forgets all data of the source, so that another one can be opened. */
function reset() {
  pieces.clear();
  stopSearch();
  hideMessage();
  [source, index, drawn, menusOf] = [null, null, null, null];
}

async function open(from) {
  source = from;
  Object.assign(facts, source.facts);
  const read = JSON.parse(new TextDecoder().decode(await inflated(source.index)));
  const rows = read.logs.reduce((sum, log) => sum + log.rows, 0);
  index = { ...read };
  for (const [name, column] of Object.entries(read.columns)) index[name] = Array.isArray(column) ? column : new Array(rows).fill(column);
  for (const name of ["record", "line", "answers", "time"]) {
    let last = 0;
    index[name] = index[name].map((change) => (change === null ? null : (last += change)));
  }
  for (const name of ["id", "session"]) {
    const texts = index[name];
    index[name] = texts.map((text, row) => text + (index.answers[row] === null ? 0 : texts[index.answers[row]]));
  }
  let end = 0;
  index.start = index.start.map((gap, row) => {
    const start = index.piece[row] ? end + gap : 0;
    if (index.piece[row]) end = start + index.length[row];
    return start;
  });
  const between = (row) => (index.time[row] - index.time[index.answers[row]]) / 1e6;
  index.latency = index.latency.map((seconds, row) => (seconds === -1 ? between(row) : seconds));
  index.time = index.time.map((time) => (time === null ? null : time / 1e6));
  answer = new Int32Array(rows).fill(-1);
  endedBy = Int32Array.from(index.ended, (row) => row ?? -1);
  logOf = new Uint32Array(rows);
  index.logs.forEach((log, number) => logOf.fill(number, log.first, log.first + log.rows));
  index.answers.forEach((request, row) => {
    if (request !== null) answer[request] = row;
  });
  const ofServer = new Map();
  for (const [, , label, server] of facts.connections) ofServer.set(server, (ofServer.get(server) ?? new Set()).add(label));
  connections = new Map();
  const times = index.time.filter((time) => time !== null);
  bounds = [Math.min, Math.max].map((edge) => times.reduce((one, other) => edge(one, other), times[0] ?? Number.NaN));
  areDays = clockTime(bounds[0], true, 0) !== clockTime(bounds[1], true, 0);
  for (const [log, session, label, server, isRestart] of facts.connections) {
    const name = !server ? label : ofServer.get(server).size > 1 ? `${label} ${server}` : server;
    connections.set(`${log} ${session}`, { label, name, isRestart, first: null, began: null });
  }
  statuses = new Array(rows);
  connectionOfRow = new Array(rows);
  operations = new Set();
  index.logs.forEach((log, number) => {
    const ofSession = new Map(
      facts.connections.filter(([of]) => of === number).map(([, key]) => [key, connections.get(`${number} ${key}`)]),
    );
    for (let row = log.first; row < log.first + log.rows; row++) {
      const connection = ofSession.get(index.session[row]);
      connectionOfRow[row] = connection;
      if (connection && index.kind[row] !== KIND.text) connection.first ??= row;
      if (connection && index.time[row] !== null) connection.began ??= index.time[row];
      if (index.operation[row]) operations.add(`${number} ${word("operation", row)}`);
    }
  });
}

/** The bytes around the text of a row, and where it begins and ends there; null where the page does not have it. */
async function pieceOf(row) {
  const number = index.piece[row];
  if (!number) return null;
  if (!pieces.has(number)) pieces.set(number, inflated(source.piece(number)));
  return { bytes: await pieces.get(number), start: index.start[row], end: index.start[row] + index.length[row] };
}

async function textOf(row) {
  const piece = await pieceOf(row);
  return piece && new TextDecoder().decode(piece.bytes.subarray(piece.start, piece.end));
}

/** The most bytes around a message that are shown with it, as many as the program keeps. */
const ENVELOPE = 2000;

/** The line of the log with the text of a row; null where it has nothing else, or much else. */
async function lineOf(row) {
  const piece = await pieceOf(row);
  if (!piece) return null;
  const { bytes, start, end } = piece;
  const from = start ? bytes.lastIndexOf(10, start - 1) + 1 : 0;
  const next = bytes.indexOf(10, end);
  const to = next < 0 ? bytes.length : next;
  const [line, text] = [bytes.subarray(from, to), bytes.subarray(start, end)].map((part) => new TextDecoder().decode(part).trim());
  return line === text || to - from - (end - start) > ENVELOPE ? null : line;
}

/** The place of a message in its batch, if the text that the page has is that of the batch. */
const placeInBatch = (row) => (facts.chosenBy ? 0 : index.element[row]);

/** The rows that pass a test. */
function rowsWhere(test) {
  const rows = [];
  for (let row = 0; row < index.kind.length; row++) if (test(row)) rows.push(row);
  return rows;
}

const word = (column, row) => index.texts[index[column][row]];
const isCall = (row) => index.kind[row] <= KIND.notification;
const isAnswer = (row) => [KIND.response, KIND.error, KIND.exchange].includes(index.kind[row]);
const isFailure = (row) => index.failed[row] === 1;
const stateOf = (row) => STATES[index.state[row]];
const isRequest = (row) => index.kind[row] === KIND.request;
const connectionOf = (row) => connectionOfRow[row];
const connectionLabels = () => [...new Set(facts.connections.map(([, , label]) => label))];
const toolOf = (row) => (methodOf(row) === "tools/call" ? word("detail", callOf(row)) : "");

/** What a row is called, as in the graph; with several logs, with the number of its log before it. */
function nameOf(row) {
  const element = index.element[row] ? `.${index.element[row]}` : "";
  const name = index.kind[row] === KIND.text ? `l${index.line[row]}` : `m${index.record[row]}${element}`;
  return index.logs.length > 1 ? `${logOf[row] + 1}:${name}` : name;
}

/** The call that a row is, or that it answers. */
const callOf = (row) => (index.answers[row] === null ? row : index.answers[row]);
const exchangeOf = (row) => [callOf(row), answer[callOf(row)]].filter((one) => one >= 0);
/** True if a test holds for the request of a row, or for its answer. */
function eitherOf(row, test) {
  const call = callOf(row);
  return Boolean(test(call) || (answer[call] >= 0 && test(answer[call])));
}
const methodOf = (row) => word("method", callOf(row)) || word("method", row);

/** The first request of the operation that a row belongs to, if that has several. */
function operationOf(row) {
  const call = callOf(row);
  const first = word("operation", row) || word("operation", call) || nameOf(call).split(":").pop();
  return operations.has(`${logOf[row]} ${first}`) ? first : "";
}

/** What is said of a call in a few words: its method, and what it is about. */
function subjectOf(row) {
  const call = callOf(row);
  return [word("method", call) || KINDS[index.kind[call]], word("detail", call)].filter(Boolean).join(" ");
}

/** The tool, or the method; of a document its file's name alone. */
function briefly(row) {
  const [method, detail] = [word("method", callOf(row)), word("detail", callOf(row))];
  if (toolOf(row)) return toolOf(row);
  const file = /^[a-z][\w+.-]*:\/\/.*\/([^/]+)$/i.exec(detail);
  return file ? `${method} ${file[1]}` : subjectOf(row);
}

/** How a row of the waterfall ended: a word, and what else there is to say. */
function outcomeOf(row) {
  const kind = index.kind[row];
  if (kind === KIND.invalid || kind === KIND.malformed) return ["invalid", KINDS[kind]];
  if (kind === KIND.notification) return ["notification", ""];
  if (stateOf(row)) return [stateOf(row), STATE_WORDS[index.state[row]]];
  // The HTTP exchange of a batch answers its first request, and ends the others.
  const end = kind !== KIND.request ? row : answer[row] < 0 ? endedBy[row] : answer[row];
  if (end < 0) return ["ok", ""];
  if (isFailure(end)) return ["failed", word("error", end)];
  return ["ok", kind === KIND.request ? "" : kind === KIND.exchange ? word("error", row) : "unsolicited"];
}

const statusOf = (row) => (statuses[row] ??= outcomeOf(row)[0]);

/** The text of a failure without its code, unless that is all. */
const reasonOf = (text) => text.replace(/^(isError|error|-?\d+) (?=.)/, "").replace(/^isError$/, "failed");

/** Seconds since 1970 or midnight, as the clock of the log shows them; null without a time. */
const timeOf = (row) => index.time[row];

/** When a call ended, by its answer or its cancellation; null if neither has a time. */
function endOf(row) {
  const end = answer[row];
  if (end >= 0 && index.latency[end] !== null) return timeOf(row) === null ? null : timeOf(row) + index.latency[end];
  const last = end >= 0 ? end : endedBy[row];
  return last >= 0 ? timeOf(last) : null;
}

/** The seconds from a call to its answer; null if there is none, or if they are unknown. */
function tookOf(row) {
  if (answer[row] >= 0) return index.latency[answer[row]];
  // The HTTP exchange of a batch answers all its requests.
  const end = isRequest(row) && !stateOf(row) ? endOf(row) : null;
  return end === null || timeOf(row) === null ? null : end - timeOf(row);
}

const logName = (log) => `${log + 1}: ${index.logs[log].name}`;

/** The beginning of a date, and of a clock time, in a text of `toISOString`. */
const DATE = 5;
const CLOCK = 11;

/** A time as clocks show it, up to seconds or their thousandths; with its date where `isDated`. */
function clockTime(seconds, isDated, digits = 8) {
  const date = new Date(seconds * 1000);
  if (seconds === null || Number.isNaN(date.getTime())) return "";
  const text = date.toISOString().replace("T", " ");
  return text.slice(isDated && !facts.zone.includes("date") ? DATE : CLOCK, CLOCK + digits);
}

/** The time of a row, with the date in place of parts of a second where there are several; with `whole`, its year and zone too. */
function clock(row, whole) {
  if (!whole) return clockTime(index.time[row], areDays, areDays ? 8 : 12);
  const year = facts.zone.includes("date") ? "" : `${new Date(index.time[row] * 1000).getUTCFullYear()}-`;
  return `${year}${clockTime(index.time[row], true, 12)}${facts.zone}`;
}
