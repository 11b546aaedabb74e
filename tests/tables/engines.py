"""Reads tables with pyarrow and DuckDB: types, nulls against absent, an id of 100 digits, bytes that are not UTF-8, 30 MB."""

import sys

import duckdb
import pyarrow.parquet

folder = sys.argv[1]
table = pyarrow.parquet.read_table(f"{folder}/messages.parquet")
types = {field.name: str(field.type) for field in table.schema}
assert types["time"] == "timestamp[us, tz=UTC]" and types["latency_s"] == "decimal128(18, 9)", types
assert types["seq"] == "int64" and types["is_error"] == "bool" and types["raw"] == "binary", types
required = [field.name for field in table.schema if not field.nullable]
assert required == ["session_iri", "seq", "message", "kind"], required
first, bytes_, big, last = table.to_pylist()
assert first["id_number"] == "7" * 100 and first["params"] == "null" and last["params"] is None
assert bytes_["kind"] == "MalformedRecord" and bytes_["raw"] == b'{"a":"\xff"}' and bytes_["text"] is None, bytes_
assert len(big["params"]) == (30 << 20) + 4 and big["size_bytes"] > 30 << 20

query = f"SELECT count(*), count(params), count(raw), max(length(params)) FROM '{folder}/messages.parquet'"
assert duckdb.sql(query).fetchall() == [(4, 2, 1, (30 << 20) + 4)], duckdb.sql(query).fetchall()
described = dict(row[:2] for row in duckdb.sql(f"DESCRIBE FROM '{folder}/messages.parquet'").fetchall())
assert described["time"] == "TIMESTAMP WITH TIME ZONE" and described["latency_s"] == "DECIMAL(18,9)", described
print(len(table), "rows")
