"""Compares what morph-kgc makes of tables through the R2RML mapping with the graph of the same log, pair by pair.

Arguments: the mapping, then folders of tables and N-Quads in turn. Prints what differs; the exit status is 1 then.
"""

import logging
import sys
import tempfile

import duckdb
import morph_kgc
import pyoxigraph

logging.disable(logging.INFO)
mapping, pairs = sys.argv[1], sys.argv[2:]
differ = 0
for folder, graph in zip(pairs[::2], pairs[1::2]):
    for table in ("messages", "sessions", "problems", "latencies"):
        duckdb.execute(f"CREATE OR REPLACE VIEW {table} AS FROM '{folder}/{table}.parquet'")
    with tempfile.TemporaryDirectory() as place:
        options = f"[CONFIGURATION]\noutput_format=N-QUADS\nna_values=None,nan,<NA>\nnumber_of_processes=1\nlogging_level=WARNING\n[log]\nmappings={mapping}\n"
        made = "".join(quad + " .\n" for quad in morph_kgc.materialize_set(options))
    parse = lambda text: set(map(str, pyoxigraph.parse(text, "application/n-quads")))
    made, expected = parse(made.encode()), parse(open(graph, "rb").read())
    for sign, quads in (("-", expected - made), ("+", made - expected)):
        for quad in sorted(quads)[:10]:
            print(folder, sign, quad[:300])
    differ += made != expected
    print(folder, len(made), "quads")
sys.exit(differ > 0)
