SELECT m.message_iri AS message, m.session_iri AS session, COALESCE(m.time_text, m.clock) AS time, m.sender, m.kind,
       COALESCE(m.method, r.method) AS method,
       CASE WHEN m.kind <> 'HttpExchange' THEN COALESCE(m.id_string, m.id_number) END AS id, m.responds_to AS request,
       m.latency_text AS seconds,
       CASE WHEN m.kind = 'ErrorResponse' THEN COALESCE(m.error_message, m.value) END AS error,
       COALESCE(m.tool, r.tool,
                CASE WHEN POSITION('"' IN u.uri) > 1 THEN SUBSTR(u.uri, 1, POSITION('"' IN u.uri) - 1) END) AS about,
       COALESCE(m.params, c.content) AS content
FROM messages m
LEFT JOIN messages r ON r.message_iri = m.responds_to
LEFT JOIN (
  SELECT message_iri, SUBSTR(params, POSITION('"uri":"' IN params) + 7) AS uri
  FROM messages
  WHERE POSITION('"uri":"' IN params) > 0
) u ON u.message_iri = m.message_iri
LEFT JOIN (
  SELECT message_iri, result AS content FROM messages WHERE result IS NOT NULL
  UNION ALL SELECT message_iri, value FROM messages WHERE value IS NOT NULL AND kind = 'InvalidMessage'
  UNION ALL SELECT message_iri, text FROM messages WHERE text IS NOT NULL
  UNION ALL SELECT message_iri, BASE64(raw) FROM messages WHERE raw IS NOT NULL
) c ON c.message_iri = m.message_iri
WHERE m.kind <> 'LogLine'
ORDER BY m.session_iri, m.seq, m.batch_index NULLS FIRST
