WITH notices AS (
  SELECT session_iri, seq, batch_index, sender,
         CASE WHEN method = 'notifications/cancelled' THEN json_extract_string(params, '/requestId')
              ELSE json_extract_string(params, '/id') END AS id,
         -- Payloads have no spaces, and in a string there would be a backslash before the quotes.
         CASE WHEN POSITION(CASE WHEN method = 'notifications/cancelled' THEN '"requestId":"' ELSE '"id":"' END IN params) > 0
              THEN 'String' ELSE 'Number' END AS id_kind
  FROM messages
  WHERE kind = 'Notification' AND method IN ('notifications/cancelled', '$/cancelRequest')
), asked AS (
  -- The newest request before it that its sender asked with that id.
  SELECT r.message_iri, ROW_NUMBER() OVER (PARTITION BY n.session_iri, n.seq, n.batch_index
                                           ORDER BY r.seq DESC, r.batch_index DESC) AS place
  FROM notices n
  JOIN messages r ON r.session_iri = n.session_iri AND r.id_kind = n.id_kind AND COALESCE(r.id_string, r.id_number) = n.id
  WHERE r.kind = 'Request' AND (r.seq < n.seq OR (r.seq = n.seq AND r.batch_index < n.batch_index))
        AND (n.sender IS NULL OR r.sender IS NULL OR r.sender = n.sender)
), answered AS (
  SELECT r.session_iri, r.sender, r.seq
  FROM messages a
  JOIN messages r ON r.message_iri = a.responds_to
), later AS (
  SELECT session_iri, sender, MAX(seq) AS seq FROM answered WHERE sender IS NOT NULL GROUP BY session_iri, sender
  UNION ALL SELECT session_iri, NULL, MAX(seq) FROM answered GROUP BY session_iri
), begun AS (
  SELECT session_iri, MAX(seq) AS seq FROM messages WHERE method = 'initialize' GROUP BY session_iri
)
SELECT m.message_iri AS message, m.session_iri AS session, COALESCE(m.time_text, m.clock) AS time, m.sender, m.method,
       m.tool, COALESCE(m.id_string, m.id_number) AS id, l.last_seq - m.seq AS after,
       CASE WHEN m.message_iri IN (SELECT message_iri FROM asked WHERE place = 1) THEN 'cancelled'
            WHEN m.method IN ('subscriptions/listen', 'tasks/result') THEN 'waiting'
            WHEN p.problem IS NOT NULL THEN 'superseded'
            WHEN COALESCE(t.seq, 0) > m.seq OR COALESCE(b.seq, 0) > m.seq THEN 'unanswered'
            ELSE 'open' END AS state
FROM messages m
JOIN (SELECT session_iri, MAX(seq) AS last_seq FROM messages WHERE kind <> 'LogLine' GROUP BY session_iri) l
  ON l.session_iri = m.session_iri
LEFT JOIN later t ON t.session_iri = m.session_iri AND COALESCE(t.sender, '') = COALESCE(m.sender, '')
LEFT JOIN begun b ON b.session_iri = m.session_iri
LEFT JOIN problems p ON p.message_iri = m.message_iri AND p.problem = 'IdReusedWhileOpen'
JOIN sessions s ON s.session_iri = m.session_iri
WHERE m.kind = 'Request' AND NOT EXISTS (SELECT 1 FROM messages a WHERE a.responds_to = m.message_iri)
      AND s.one_sided IS NOT TRUE
ORDER BY m.session_iri, m.seq, m.batch_index NULLS FIRST
