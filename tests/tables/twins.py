"""Compares what DuckDB says of tables by the SQL twins of named queries with what rpcgraph says of the log by the queries.

Arguments: folders, each with `tables` and for each query NAME.sql and NAME.csv. Numbers are compared as numbers, rows as a
multiset: of some queries the order of equal rows is nobody's. The exit status is 1 where something differs.
"""

import csv
import pathlib
import sys
from collections import Counter
from decimal import Decimal, InvalidOperation

import duckdb

csv.field_size_limit(1 << 30)


def cell(value):
    text = "" if value is None else str(value)
    try:
        number = Decimal(text)
        return str(round(number, 6).normalize()) if number.is_finite() and "." in text else text
    except InvalidOperation:
        return text


def rows(values):
    return sorted(tuple(map(cell, row)) for row in values)


differ = compared = 0
for folder in map(pathlib.Path, sys.argv[1:]):
    for table in ("messages", "sessions", "problems"):
        duckdb.execute(f"CREATE OR REPLACE VIEW {table} AS FROM '{folder}/tables/{table}.parquet'")
    for query in sorted(folder.glob("*.sql")):
        with open(query.with_suffix(".csv"), newline="") as file:
            names, *expected = csv.reader(file)
        result = duckdb.sql(query.read_text())
        found = rows(result.fetchall())
        same = (list(result.columns), found) == (names, rows(expected))
        differ += not same
        compared += len(found)
        if not same:
            print(query, list(result.columns), names)
            lacks, more = Counter(rows(expected)), Counter(found)
            print("".join(f"  - {row}\n" for row in lacks - more)[:2000], end="")
            print("".join(f"  + {row}\n" for row in more - lacks)[:2000])
print(compared, "rows compared")
sys.exit(differ > 0)
