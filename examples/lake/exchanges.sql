-- Each request with what answers it, over the tables of `rpcgraph convert -t parquet`.
CREATE VIEW exchanges AS
SELECT r.session_iri, r.seq, r.message_iri AS request, a.message_iri AS answer, r.sender, r.method, r.tool, r.id_kind,
       r.id_string, r.id_number, r.time AS started, a.time AS ended,
       COALESCE(l.seconds, a.latency_s) AS latency_s, COALESCE(l.seconds_text, a.latency_text) AS latency_text, a.kind AS outcome,
       a.is_error, a.error_code, a.error_kind, a.error_message, r.params, a.result, r.trace_id, r.parent_span_id,
       a.failure, a.http_status
FROM messages r
LEFT JOIN messages a ON a.responds_to = r.message_iri
LEFT JOIN latencies l ON l.message_iri = a.message_iri
WHERE r.kind = 'Request'
