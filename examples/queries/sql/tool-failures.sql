SELECT r.message_iri AS request, r.session_iri AS session, COALESCE(r.time_text, r.clock) AS time, r.tool,
       COALESCE(r.id_string, r.id_number) AS id, a.message_iri AS answer, a.kind, a.error_code AS code,
       COALESCE(json_extract_string(a.result, '/content/0/text'), a.result, a.error_message, a.value, a.reason) AS reason,
       COALESCE(l.seconds_text, a.latency_text) AS seconds
FROM messages a
JOIN messages r ON r.message_iri = a.responds_to
LEFT JOIN latencies l ON l.message_iri = a.message_iri
WHERE a.failure IS NOT NULL AND r.method = 'tools/call'
ORDER BY r.session_iri, r.seq, r.batch_index NULLS FIRST
