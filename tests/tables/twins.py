"""Compares what engines say of tables by the SQL twins of named queries with what rpcgraph says of the log by the queries.

Arguments: duckdb or spark; folders, each with `tables` and for each query NAME.sql and NAME.csv. Numbers are compared as
numbers, rows as a multiset: of some queries the order of equal rows is nobody's. The exit status is 1 where something differs.
"""

import csv
import pathlib
import sys
from collections import Counter
from decimal import Decimal, InvalidOperation

csv.field_size_limit(1 << 30)

if sys.argv[1] == "spark":
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    # Few rows: 200 tasks a join would take minutes.
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()

    def view(table, path):
        spark.read.parquet(path).createOrReplaceTempView(table)

    def ask(sql):
        result = spark.sql(sql)
        return result.columns, result.collect()
else:
    import duckdb

    def view(table, path):
        duckdb.execute(f"CREATE OR REPLACE VIEW {table} AS FROM '{path}'")

    def ask(sql):
        result = duckdb.sql(sql)
        return list(result.columns), result.fetchall()


def cell(value):
    text = "" if value is None else format(value, "f") if isinstance(value, Decimal) else str(value)
    try:
        number = Decimal(text)
        return str(round(number, 6).normalize()) if number.is_finite() and "." in text else text
    except InvalidOperation:
        return text


def rows(values):
    return sorted(tuple(map(cell, row)) for row in values)


differ = compared = 0
for folder in map(pathlib.Path, sys.argv[2:]):
    for table in ("messages", "sessions", "problems", "latencies"):
        view(table, f"{folder}/tables/{table}.parquet")
    for query in sorted(folder.glob("*.sql")):
        with open(query.with_suffix(".csv"), newline="") as file:
            names, *expected = csv.reader(file)
        columns, found = ask(query.read_text())
        found = rows(found)
        same = (columns, found) == (names, rows(expected))
        differ += not same
        compared += len(found)
        if not same:
            print(query, columns, names)
            lacks, more = Counter(rows(expected)), Counter(found)
            print("".join(f"  - {row}\n" for row in lacks - more)[:2000], end="")
            print("".join(f"  + {row}\n" for row in more - lacks)[:2000])
print(compared, "rows compared")
sys.exit(differ > 0)
