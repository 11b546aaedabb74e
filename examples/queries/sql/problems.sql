WITH wrong AS (
  SELECT m.session_iri, m.kind, m.message_iri, m.seq, m.batch_index, p.problem
  FROM messages m
  JOIN problems p ON p.message_iri = m.message_iri
  UNION ALL
  SELECT session_iri, kind, message_iri, seq, batch_index, reason FROM messages WHERE reason IS NOT NULL
  UNION ALL
  SELECT m.session_iri, m.kind, m.message_iri, m.seq, m.batch_index, NULL
  FROM messages m
  WHERE m.kind = 'MalformedRecord' AND NOT EXISTS (SELECT 1 FROM problems p WHERE p.message_iri = m.message_iri)
), counted AS (
  SELECT message_iri, problem, COUNT(*) OVER (PARTITION BY session_iri, kind, problem) AS number,
         ROW_NUMBER() OVER (PARTITION BY session_iri, kind, problem
                            ORDER BY seq, COALESCE(batch_index, 0), message_iri) AS place
  FROM wrong
)
SELECT m.message_iri AS message, m.session_iri AS session, COALESCE(m.time_text, m.clock) AS time, m.sender, m.kind,
       w.problem, w.number AS count, m.method,
       CASE WHEN m.kind = 'InvalidMessage' THEN COALESCE(m.value, m.text, BASE64(m.raw))
            WHEN m.kind = 'MalformedRecord' THEN COALESCE(m.text, BASE64(m.raw)) END AS text
FROM counted w
JOIN messages m ON m.message_iri = w.message_iri
WHERE w.place = 1
ORDER BY w.number, COALESCE(w.problem, m.kind), m.session_iri, m.seq, m.batch_index NULLS FIRST
