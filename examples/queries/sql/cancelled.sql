WITH notices AS (
  SELECT message_iri, session_iri, seq, batch_index, COALESCE(time_text, clock) AS time, sender,
         json_extract_string(params, '/reason') AS reason,
         CASE WHEN method = 'notifications/cancelled' THEN json_extract_string(params, '/requestId')
              ELSE json_extract_string(params, '/id') END AS id,
         -- Payloads have no spaces, and in a string there would be a backslash before the quotes.
         CASE WHEN POSITION(CASE WHEN method = 'notifications/cancelled' THEN '"requestId":"' ELSE '"id":"' END IN params) > 0
              THEN 'String' ELSE 'Number' END AS id_kind
  FROM messages
  WHERE kind = 'Notification' AND method IN ('notifications/cancelled', '$/cancelRequest')
), asked AS (
  -- The query looks among the open requests and the last 65,536 that were answered; this, among all.
  SELECT n.message_iri AS notice, r.message_iri, r.method,
         ROW_NUMBER() OVER (PARTITION BY n.message_iri ORDER BY r.seq DESC, r.batch_index DESC) AS place
  FROM notices n
  JOIN messages r ON r.session_iri = n.session_iri AND r.id_kind = n.id_kind AND COALESCE(r.id_string, r.id_number) = n.id
  WHERE r.kind = 'Request' AND (r.seq < n.seq OR (r.seq = n.seq AND r.batch_index < n.batch_index))
        AND (n.sender IS NULL OR r.sender IS NULL OR r.sender = n.sender)
)
SELECT n.message_iri AS message, n.session_iri AS session, n.time, n.sender, n.id, n.reason, r.message_iri AS request,
       r.method, a.message_iri AS answer, a.kind, a.error_code AS code,
       CASE WHEN a.seq < n.seq THEN 'before' WHEN a.seq IS NOT NULL THEN 'after' END AS when
FROM notices n
LEFT JOIN asked r ON r.notice = n.message_iri AND r.place = 1
LEFT JOIN messages a ON a.responds_to = r.message_iri
ORDER BY n.session_iri, n.seq, n.batch_index NULLS FIRST, r.message_iri
