// Calls that have a method, a tool or a document in common.

/** Calls by method: how many, how they ended, how long they took, and their bytes. */
const byMethod = (rows = index.kind.keys()) => grouped(rows, (row) => word("method", row));

/** Calls by what they are about, and the other names without calls. */
const byDetail = (isWanted, names = []) => grouped(rowsWhere(isWanted), (row) => word("detail", row), names).filter((one) => one.name);

function grouped(rows, groupOf, names = []) {
  const empty = (name) => ({ name, calls: 0, answers: 0, failures: 0, diagnosed: 0, bytes: 0, bytesOfAnswers: 0, latencies: [], ends: [] });
  const groups = new Map(Array.from(names, (name) => [name, empty(name)]));
  for (const row of rows) {
    if (!isCall(row)) continue;
    const name = groupOf(row);
    const one = groups.get(name) || empty(name);
    groups.set(name, one);
    one.calls++;
    one.bytes += index.length[row];
    if (word("method", row) === "textDocument/publishDiagnostics") one.diagnosed++;
    const end = answer[row];
    if (end < 0) continue;
    one.bytes += index.length[end];
    one.answers++;
    one.bytesOfAnswers += index.length[end];
    if (isFailure(end)) one.failures++;
    if (index.latency[end] !== null) one.latencies.push(index.latency[end]), one.ends.push(end);
  }
  return [...groups.values()].sort((one, other) => other.failures - one.failures || other.calls - one.calls);
}
