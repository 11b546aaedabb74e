"""How often each method fails in a log where no id is used twice, with DuckDB: duckdb_failed.py LOG"""

import sys

import duckdb

QUERY = """
    WITH message AS (
        FROM read_json(?, format = 'newline_delimited', columns = {id: 'VARCHAR', method: 'VARCHAR', error: 'JSON'})
    )
    SELECT request.method, count(*)
    FROM message AS request JOIN message AS answer ON request.id = answer.id
    WHERE request.method IS NOT NULL AND answer.error IS NOT NULL
    GROUP BY ALL ORDER BY ALL
"""
for method, count in duckdb.execute(QUERY, [sys.argv[1]]).fetchall():
    print(method, count, sep="\t")
