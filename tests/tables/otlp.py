"""Validates OTLP/JSON by OpenTelemetry's protobuf schema, and compares spans with latencies and traces of the graph.

Arguments: files of spans and of rows (CSV: seconds, trace, parent) in turn.
"""

import base64
import csv
import json
import sys
from decimal import Decimal

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

total = 0
for spans, rows in zip(sys.argv[1::2], sys.argv[2::2]):
    found, ids = [], set()
    for line in open(spans):
        line = json.loads(line)
        for resource in line["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    took = int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])
                    parent = span["parentSpanId"]
                    trace = span["traceId"] if parent else ""
                    # Requests without an answer have a span, and no latency.
                    if all(attribute["key"] != "rpcgraph.state" for attribute in span["attributes"]):
                        found.append((str(Decimal(took) / 10**9), trace, parent))
                    assert span["spanId"] not in ids, "spans share ids"
                    ids.add(span["spanId"])
                    assert len(bytes.fromhex(span["traceId"])) == 16 and len(bytes.fromhex(span["spanId"])) == 8
                    for name in ("traceId", "spanId", "parentSpanId"):
                        # Hexadecimal in OTLP/JSON, base64 in protobuf's own JSON.
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
        parsed = json_format.Parse(json.dumps(line), ExportTraceServiceRequest())
        assert parsed.resource_spans[0].scope_spans[0].spans[0].name
    with open(rows, newline="") as file:
        expected = [tuple(row) for row in csv.reader(file)][1:]
    number = lambda row: (Decimal(row[0]), *row[1:])
    assert sorted(map(number, found)) == sorted(map(number, expected)), (spans, found[:5], expected[:5])
    total += len(found)
print(total, "spans")
assert total > 0
