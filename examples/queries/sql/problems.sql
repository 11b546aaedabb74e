WITH wrong AS (
  SELECT m.message_iri, p.problem, COUNT(*) OVER (PARTITION BY p.problem) AS number
  FROM messages m
  JOIN problems p ON p.message_iri = m.message_iri
  UNION ALL
  SELECT m.message_iri, NULL, COUNT(*) OVER (PARTITION BY m.kind)
  FROM messages m
  WHERE m.kind IN ('InvalidMessage', 'MalformedRecord')
    AND NOT EXISTS (SELECT 1 FROM problems p WHERE p.message_iri = m.message_iri)
), contents AS (
  SELECT message_iri, value AS content FROM messages WHERE value IS NOT NULL AND kind = 'InvalidMessage'
  UNION ALL SELECT message_iri, text FROM messages WHERE text IS NOT NULL
  UNION ALL SELECT message_iri, BASE64(raw) FROM messages WHERE raw IS NOT NULL
)
SELECT m.message_iri AS message, m.session_iri AS session, COALESCE(m.time_text, m.clock) AS time, m.sender, m.kind,
       w.problem, w.number AS count, m.method,
       CASE WHEN m.kind IN ('InvalidMessage', 'MalformedRecord') THEN SUBSTR(c.content, 1, 200) END AS text
FROM wrong w
JOIN messages m ON m.message_iri = w.message_iri
LEFT JOIN contents c ON c.message_iri = m.message_iri
WHERE m.kind <> 'LogLine'
ORDER BY w.number, COALESCE(w.problem, m.kind), m.session_iri, m.seq, m.batch_index NULLS FIRST
