SELECT r.message_iri AS request, r.session_iri AS session, COALESCE(r.time_text, r.clock) AS time,
       a.latency_text AS seconds, r.method, r.tool, COALESCE(r.id_string, r.id_number) AS id, a.message_iri AS answer, a.kind
FROM messages a
JOIN messages r ON r.message_iri = a.responds_to
WHERE a.latency_s IS NOT NULL
ORDER BY a.latency_s DESC, r.message_iri
LIMIT 20
