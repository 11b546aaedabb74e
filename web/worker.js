// The worker: holds the program and the logs, and answers one call after the other.

let logs = null;
let [read, shown] = [0, 0];

/** Called by the program with the bytes that it has read. */
self.rpcgraphProgress = (bytes) => {
  read += bytes;
  if (performance.now() - shown < 100) return;
  shown = performance.now();
  postMessage({ read });
};

const ACTIONS = {
  async open(program, format, files) {
    wasm_bindgen.initSync({ module: program });
    logs = new wasm_bindgen.Logs(format);
    for (const { name, blob } of files) logs.add(name, new Uint8Array(await blob.arrayBuffer()));
  },
  page: (redacted, isShown) => ({ bytes: logs.page(redacted, isShown), notes: logs.notes() }),
  graph: (extension, redacted) => ({ bytes: logs.graph(extension, redacted) }),
  ask(query, accept) {
    const answer = logs.ask(query, accept);
    return { type: answer.media_type, bytes: answer.bytes };
  },
  check: () => logs.check(),
};

/** The reason why the program ended and cannot continue; "" for any other error. */
function end(error) {
  if (error instanceof RangeError) return "it is nested too deeply, or too large, for this browser";
  return error instanceof WebAssembly.RuntimeError ? `it is too large for this browser, or a fault in the program (${error.message})` : "";
}

async function answer({ number, name, values }) {
  read = 0;
  try {
    const value = await ACTIONS[name](...values);
    postMessage({ number, value }, value?.bytes ? [value.bytes.buffer] : []);
  } catch (error) {
    postMessage({ number, error: end(error) || error.message, isEnd: end(error) !== "" });
  }
}

let last = Promise.resolve();
self.onmessage = ({ data }) => (last = last.then(() => answer(data)));
