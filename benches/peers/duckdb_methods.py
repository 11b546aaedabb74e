"""How often each method is in a log, with DuckDB: duckdb_methods.py LOG"""

import sys

import duckdb

QUERY = """
    SELECT coalesce(method, ''), count(*)
    FROM read_json(?, format = 'newline_delimited', columns = {method: 'VARCHAR'})
    GROUP BY ALL ORDER BY ALL
"""
for method, count in duckdb.execute(QUERY, [sys.argv[1]]).fetchall():
    print(method, count, sep="\t")
