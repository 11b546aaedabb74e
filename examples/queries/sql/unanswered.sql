SELECT m.message_iri AS message, m.session_iri AS session, COALESCE(m.time_text, m.clock) AS time, m.sender, m.method,
       m.tool, COALESCE(m.id_string, m.id_number) AS id, l.last_seq - m.seq AS after
FROM messages m
JOIN (SELECT session_iri, MAX(seq) AS last_seq FROM messages WHERE kind <> 'LogLine' GROUP BY session_iri) l
  ON l.session_iri = m.session_iri
WHERE m.kind = 'Request' AND NOT EXISTS (SELECT 1 FROM messages a WHERE a.responds_to = m.message_iri)
ORDER BY m.session_iri, m.seq, m.batch_index NULLS FIRST
