SELECT m.message_iri AS message, m.session_iri AS session, COALESCE(m.time_text, m.clock) AS time, m.sender, m.kind,
       COALESCE(m.id_string, m.id_number) AS id, p.problem, m.error_code AS code,
       CASE WHEN m.kind = 'ErrorResponse' THEN COALESCE(m.error_message, m.value) END AS error
FROM messages m
LEFT JOIN problems p ON p.message_iri = m.message_iri AND p.problem = 'DuplicateAnswer'
WHERE m.kind IN ('Response', 'ErrorResponse') AND m.responds_to IS NULL
ORDER BY m.session_iri, m.seq, m.batch_index NULLS FIRST
