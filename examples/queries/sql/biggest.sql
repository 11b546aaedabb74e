WITH sized AS (
  SELECT message_iri,
         LENGTH(COALESCE(params, result, error_data, CASE WHEN kind = 'InvalidMessage' THEN value END)) AS size
  FROM messages
)
SELECT m.message_iri AS message, m.session_iri AS session, s.size, COALESCE(m.time_text, m.clock) AS time, m.sender,
       m.kind, COALESCE(m.method, r.method) AS method, COALESCE(m.tool, r.tool) AS tool
FROM sized s
JOIN messages m ON m.message_iri = s.message_iri
LEFT JOIN messages r ON r.message_iri = m.responds_to
WHERE s.size IS NOT NULL
ORDER BY s.size DESC, m.message_iri
LIMIT 20
