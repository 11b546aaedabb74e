"""Asks logs of several sizes, and prints Markdown tables: ask.py RPCGRAPH FOLDER MESSAGES...

Each table has the questions that DuckDB answers too, with its answer compared, and the named queries; the ratio is to the
wall time in which DuckDB counts requests by method from the same file, started and ended as the command is. Both run in turn,
since the speed of many machines changes by the minute.
"""

import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from timed import run  # noqa: E402

RPCGRAPH, FOLDER, SIZES = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
PEERS = HERE.parent / "peers"
PYTHON = FOLDER / "venv" / "bin" / "python"
RUNS = 3

METHODS = "SELECT ?method (COUNT(*) AS ?count) { ?message jrpc:hasMethod ?method } GROUP BY ?method ORDER BY ?method"
FAILED = """SELECT ?method (COUNT(*) AS ?count) {
  ?answer a jrpc:ErrorResponse ; rpcg:respondsTo ?request . ?request jrpc:hasMethod ?method
} GROUP BY ?method ORDER BY ?method"""


def answer(path):
    """Rows of method and count, in any order."""
    rows = (re.split(r"[,\t]", line) for line in path.read_text().splitlines())
    return sorted(row for row in rows if len(row) == 2 and row[0] and row[1].isdigit())


def measured(command, output, count):
    """Median of wall time, peak memory, and ratio to the time of `count`, which runs before each run of the command."""
    both = [[run([str(part) for part in one], str(path)) for one, path in [count, (command, output)]] for _ in range(RUNS)]
    counts, runs = zip(*both)
    wall, reference = (statistics.median(one.wall for one in some) for some in (runs, counts))
    return wall, max(one.peak for one in runs), wall / reference


def halves(log):
    """Two logs, for the question that compares logs."""
    lines = log.read_bytes().splitlines(keepends=True)
    for name, part in [("first", lines[: len(lines) // 2]), ("second", lines[len(lines) // 2 :])]:
        half = FOLDER / f"{name}.ndjson"
        half.write_bytes(b"".join(part))
        yield half


def print_row(what, wall, peak, ratio, size):
    print(f"| {what} | {wall:.2f} s | {ratio:.1f} | {peak / 1024:.0f} MiB | {peak * 1024 / size:.2f} |", flush=True)


def main():
    listed = subprocess.run([RPCGRAPH, "ask"], check=True, capture_output=True, text=True).stdout
    names = [line for line in listed.splitlines() if re.fullmatch(r"[a-z-]+", line)]
    for messages in SIZES:
        log = FOLDER / f"{messages}.ndjson"
        size = log.stat().st_size
        print(f"\n{int(messages):,} messages, {size / 1e6:.1f} MB\n")
        print("| from the log to an answer | wall | to DuckDB's count | peak memory | to the log |")
        print("|---|--:|--:|--:|--:|")
        log.read_bytes()  # into the system's cache
        ask = [RPCGRAPH, "query", "--quiet", "-t", "csv", log]
        count = ([PYTHON, PEERS / "duckdb_methods.py", log], FOLDER / "count.tsv")
        for what, query, script in [("by method", METHODS, "duckdb_methods.py"), ("failures by method", FAILED, "duckdb_failed.py")]:
            theirs = measured([PYTHON, PEERS / script, log], FOLDER / "duckdb.tsv", count)
            print_row(f"DuckDB (with the start of Python): {what}", *theirs, size)
            ours = measured([*ask, "-q", query], FOLDER / "ours.csv", count)
            if answer(FOLDER / "duckdb.tsv") != answer(FOLDER / "ours.csv"):
                sys.exit(f"DuckDB and rpcgraph do not agree on {what}")
            print_row(f"**rpcgraph**: {what}", *ours, size)
        for name in names:
            inputs = [*halves(log)] if name == "compare" else [log]
            print_row(f"`{name}`", *measured([RPCGRAPH, "ask", name, *ask[2:-1], *inputs], FOLDER / "named.csv", count), size)


main()
