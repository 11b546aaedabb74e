"""Runs rpcgraph and its peers in turn, and prints a Markdown table: compare.py RPCGRAPH FOLDER

The folder holds the log, and what the peers are installed in; run.sh makes it.
"""

import hashlib
import json
import re
import shutil
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import timed  # noqa: E402

RPCGRAPH, FOLDER = sys.argv[1], Path(sys.argv[2])
LOG, DOCUMENT = FOLDER / "log.ndjson", FOLDER / "log.jsonld"
CONTEXT = HERE.parent.parent / "context" / "json-rpc.jsonld"
BIN = FOLDER / "venv" / "bin"

RUNS = 5
"""Each peer runs so often, unless its runs take longer than"""
PATIENCE = 60
"""seconds; then it runs twice."""


class Row(NamedTuple):
    what: str
    command: list
    output: str
    check: str
    """How its output is compared with the first of its kind: `lines`, `count` of lines, or nothing."""


def version(package):
    pinned = re.search(rf"^{package}==(.*)$", (HERE / "requirements.txt").read_text(), re.MULTILINE)
    if pinned:
        return pinned[1]
    return json.loads((HERE / "package.json").read_text())["dependencies"][package]


def rows():
    convert = [RPCGRAPH, "convert", "--quiet"]
    to_ntriples = ["--from-file", DOCUMENT, "--to-format", "nt", "--to-file"]
    yield Row("**rpcgraph** `convert -m bblock -t ntriples`", [*convert, *"-m bblock -t ntriples".split(), LOG], "ours.nt", "")
    yield Row("**rpcgraph** `convert --protocol none -t nquads`", [*convert, *"--protocol none -t nquads".split(), LOG], "ours.nq", "")
    yield Row("**rpcgraph** `convert --protocol none -t turtle`", [*convert, *"--protocol none -t turtle".split(), LOG], "ours.ttl", "")
    yield Row(
        f"oxigraph {version('oxigraph')} `convert`, all messages in one `@graph`",
        [BIN / "oxigraph", "convert", *to_ntriples, FOLDER / "oxigraph.nt"], "oxigraph.nt", "lines",
    )  # fmt: skip
    yield Row(
        f"jsonld.js {version('jsonld')}, a message at a time",
        ["node", FOLDER / "jsonld-messages.mjs", CONTEXT, LOG], "jsonld-js.nt", "lines",
    )  # fmt: skip
    yield Row(
        f"PyLD {version('PyLD')}, a message at a time",
        [BIN / "python", HERE / "pyld_messages.py", CONTEXT, LOG], "pyld.nt", "lines",
    )  # fmt: skip
    yield Row(
        f"rdflib {version('rdflib')}, all messages in one `@graph`",
        [BIN / "python", HERE / "rdflib_document.py", DOCUMENT], "rdflib.nt", "count",
    )  # fmt: skip
    yield Row(
        f"DuckDB {version('duckdb')}, the number of messages by method (with the start of Python)",
        [BIN / "python", HERE / "duckdb_methods.py", LOG], "duckdb.tsv", "",
    )  # fmt: skip
    if shutil.which("jq"):
        yield Row("jq, the same number", ["jq", "-rn", "-f", HERE / "methods.jq", LOG], "jq.tsv", "lines")
    else:
        print("jq is not installed, so it is left out", file=sys.stderr)


def write_document():
    """All messages in one graph under the building block's context: what takes no stream of messages is given this."""
    with open(LOG) as log, open(DOCUMENT, "w") as document:
        document.write('{"@context":' + json.dumps(json.loads(CONTEXT.read_text())["@context"]) + ',"@graph":[\n')
        for record, line in enumerate(log):
            document.write("," * (record > 0) + line)
        document.write("]}\n")


BLANK = re.compile(rb"^_:\S+|(?<=> )_:\S+(?= \.$)")


def fingerprint(path):
    """The number of lines, and a sum over them in which neither their order nor the labels of blank nodes count."""
    count, total = 0, 0
    with open(path, "rb") as file:
        for line in file:
            digest = hashlib.blake2b(BLANK.sub(b"_:", line.rstrip(b"\n")), digest_size=16).digest()
            count, total = count + 1, (total + int.from_bytes(digest, "big")) % 2**128
    return count, total


def run(row):
    path = FOLDER / row.output
    # A command with the name of its output in the arguments prints nothing.
    return timed.run([str(part) for part in row.command], "/dev/null" if path in row.command else path)


def agree(first, row):
    ours, theirs = fingerprint(FOLDER / first.output), fingerprint(FOLDER / row.output)
    same = ours == theirs if row.check == "lines" else ours[0] == theirs[0]
    if not same:
        sys.exit(f"{row.output} ({theirs[0]} lines) does not agree with {first.output} ({ours[0]} lines)")
    what = "the same lines" if row.check == "lines" else "as many lines"
    print(f"{row.output}: {what} as {first.output}, {ours[0]}", file=sys.stderr)


def median(runs):
    return timed.Run(*(statistics.median(values) for values in zip(*runs)))


def print_row(what, runs, ratio):
    middle = median(runs)
    print(
        f"| {what} | {middle.wall:.2f} s | {middle.cpu:.2f} s | {middle.peak / 1024:.0f} MiB "
        f"| {ratio} | {len(runs)} |",
        flush=True,
    )


METHODS = "SELECT ?method (COUNT(*) AS ?count) { ?message jrpc:hasMethod ?method } GROUP BY ?method ORDER BY ?method"
FAILED = """SELECT ?method (COUNT(*) AS ?count) {
  ?answer a jrpc:ErrorResponse ; rpcg:respondsTo ?request . ?request jrpc:hasMethod ?method
} GROUP BY ?method ORDER BY ?method"""


def questions():
    """From a log to the answer of a question; what gives the same answer is in one group."""
    ask = [RPCGRAPH, "query", "--quiet", "-t", "csv", LOG, "-q"]
    python = [BIN / "python"]
    store = FOLDER / "oxigraph-store"
    oxigraph = f"""
        rm -rf {store}
        {BIN}/oxigraph load --location {store} --file {DOCUMENT} 2>{FOLDER}/oxigraph-load.log
        {BIN}/oxigraph query --location {store} --results-format csv \\
            --query 'PREFIX jrpc: <http://json-rpc.org/ontology#> {METHODS}'
    """
    yield [
        Row("**rpcgraph** `query`: how often is each method called?", [*ask, METHODS], "methods.csv", ""),
        Row("oxigraph `load` and `query`, all messages in one `@graph`", ["sh", "-ec", oxigraph], "methods-oxigraph.csv", ""),
        Row("jq", ["jq", "-rn", "-f", HERE / "methods.jq", LOG], "methods-jq.tsv", ""),
        Row("DuckDB (with the start of Python)", [*python, HERE / "duckdb_methods.py", LOG], "methods-duckdb.tsv", ""),
    ]  # fmt: skip
    yield [
        Row("**rpcgraph** `query`: how often does each method fail?", [*ask, FAILED], "failed.csv", ""),
        Row("jq, by id", ["jq", "-rn", "-f", HERE / "failed.jq", LOG], "failed-jq.tsv", ""),
        Row("DuckDB, by id", [*python, HERE / "duckdb_failed.py", LOG], "failed-duckdb.tsv", ""),
    ]
    yield [
        Row("**rpcgraph** `methods`", [RPCGRAPH, "methods", "--quiet", LOG], "named.txt", ""),
    ]  # fmt: skip


def answer(path):
    """Its rows: method and count. Messages without a method are nobody's question."""
    rows = (re.split(r"[,\t]", line) for line in path.read_text().splitlines())
    return sorted(row for row in rows if len(row) == 2 and row[0] and row[1].isdigit())


def compare(ours, peers, agree):
    """Runs each peer and ours in turn, and gives the runs of ours, and of each peer with the ratio of wall times."""
    run(ours)  # also brings program and log into memory
    measured, all_ours = [], []
    for peer in peers or [ours]:
        print(f"… {peer.what}", file=sys.stderr)
        own, theirs = [], []
        while len(theirs) < RUNS and (len(theirs) < 2 or sum(run.wall for run in theirs) < PATIENCE):
            own.append(run(ours))
            theirs.append(run(peer))
        agree(peer)
        all_ours += own
        if peer is not ours:
            measured.append((peer, theirs, median(theirs).wall / median(own).wall))
    return all_ours, measured


def main():
    write_document()
    ours, *peers = rows()
    first_of = {".nt": ours}

    def lines_agree(peer):
        first = first_of.setdefault(Path(peer.output).suffix, peer)
        if peer.check:
            agree(first, peer)

    all_ours, measured = compare(ours, peers, lines_agree)
    size = LOG.stat().st_size / 1e6
    print(f"\nMedians over {size:.1f} MB of JSON lines; the ratio is between wall times of runs in turn.\n")
    print("| what | wall | CPU | peak memory | ratio | runs |")
    print("|---|--:|--:|--:|--:|--:|")
    print_row(ours.what, all_ours, "1")
    for peer, runs, ratio in measured:
        print_row(peer.what, runs, f"{ratio:.1f}")

    print("\n| from the log to an answer | wall | CPU | peak memory | ratio | runs |")
    print("|---|--:|--:|--:|--:|--:|")
    for ours, *peers in questions():
        peers = [peer for peer in peers if shutil.which(str(peer.command[0]))]

        def answers_agree(peer):
            if answer(FOLDER / peer.output) != answer(FOLDER / ours.output):
                sys.exit(f"{peer.output} does not agree with {ours.output}")

        all_ours, measured = compare(ours, peers, answers_agree)
        print_row(ours.what, all_ours, "1")
        for peer, runs, ratio in measured:
            print_row(peer.what, runs, f"{ratio:.1f}")


main()
