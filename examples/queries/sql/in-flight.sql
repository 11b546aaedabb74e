WITH notices AS (
  SELECT session_iri, seq, batch_index, sender,
         CASE WHEN method = 'notifications/cancelled' THEN json_extract_string(params, '/requestId')
              ELSE json_extract_string(params, '/id') END AS id,
         -- Payloads have no spaces, and in a string there would be a backslash before the quotes.
         CASE WHEN POSITION(CASE WHEN method = 'notifications/cancelled' THEN '"requestId":"' ELSE '"id":"' END IN params) > 0
              THEN 'String' ELSE 'Number' END AS id_kind
  FROM messages
  WHERE kind = 'Notification' AND method IN ('notifications/cancelled', '$/cancelRequest')
), named AS (
  -- The query looks among the open requests and the last 65,536 that were answered; this, among all.
  SELECT r.message_iri, n.seq,
         ROW_NUMBER() OVER (PARTITION BY n.session_iri, n.seq, n.batch_index ORDER BY r.seq DESC, r.batch_index DESC) AS place
  FROM notices n
  JOIN messages r ON r.session_iri = n.session_iri AND r.id_kind = n.id_kind AND COALESCE(r.id_string, r.id_number) = n.id
  WHERE r.kind = 'Request' AND (r.seq < n.seq OR (r.seq = n.seq AND r.batch_index < n.batch_index))
        AND (n.sender IS NULL OR r.sender IS NULL OR r.sender = n.sender)
), cancelled AS (
  SELECT message_iri, MIN(seq) AS seq FROM named WHERE place = 1 GROUP BY message_iri
), asked AS (
  SELECT r.session_iri, r.sender, r.seq AS begins, a.seq AS answered,
         CASE WHEN c.seq < a.seq OR a.seq IS NULL THEN c.seq ELSE a.seq END AS ends
  FROM messages r
  LEFT JOIN messages a ON a.responds_to = r.message_iri
  LEFT JOIN cancelled c ON c.message_iri = r.message_iri
  JOIN sessions s ON s.session_iri = r.session_iri
  WHERE r.kind = 'Request' AND s.one_sided IS NULL
), changes AS (
  SELECT session_iri, sender, begins AS place, 1 AS change, CASE WHEN answered IS NULL THEN 1 ELSE 0 END AS silent
  FROM asked
  UNION ALL SELECT session_iri, sender, ends, -1, 0 FROM asked WHERE ends IS NOT NULL
), running AS (
  SELECT session_iri, sender, change, silent,
         SUM(change) OVER (PARTITION BY session_iri, sender ORDER BY place, change ROWS UNBOUNDED PRECEDING) AS open
  FROM changes
)
SELECT session_iri AS session, sender, SUM(CASE WHEN change = 1 THEN 1 ELSE 0 END) AS requests,
       SUM(silent) AS noAnswer, MAX(open) AS most
FROM running
GROUP BY session_iri, sender
ORDER BY session_iri, sender NULLS FIRST
