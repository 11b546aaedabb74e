SELECT m.message_iri AS message, m.session_iri AS session, COALESCE(m.time_text, m.clock) AS time, m.sender, m.kind,
       COALESCE(m.method, r.method) AS method,
       CASE WHEN m.kind <> 'HttpExchange' THEN COALESCE(m.id_string, m.id_number) END AS id, m.responds_to AS request,
       m.latency_text AS seconds,
       CASE WHEN m.kind = 'ErrorResponse' THEN COALESCE(m.error_message, m.value) END AS error,
       COALESCE(m.tool, r.tool, m.target_uri) AS about,
       COALESCE(m.params, m.result, CASE WHEN m.kind = 'InvalidMessage' THEN m.value END, m.text, BASE64(m.raw)) AS content
FROM messages m
LEFT JOIN messages r ON r.message_iri = m.responds_to
WHERE m.kind <> 'LogLine'
ORDER BY SUBSTR(m.session_iri || '#', 1, POSITION('#' IN m.session_iri || '#') - 1), m.seq, m.batch_index NULLS FIRST
