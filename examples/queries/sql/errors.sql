SELECT m.message_iri AS message, m.session_iri AS session, p.client, p.server, COALESCE(m.time_text, m.clock) AS time,
       m.sender, m.responds_to AS request, r.method, r.tool,
       COALESCE(m.id_string, m.id_number, r.id_string, r.id_number) AS id,
       COALESCE(m.error_code, CASE WHEN m.failure = 'http' THEN CAST(m.http_status AS VARCHAR(20)) END) AS code,
       m.error_kind AS kind,
       -- The first text of a tool's result, if its content begins with one.
       COALESCE(m.error_message, m.value, m.reason, json_extract_string(m.result, '/content/0/text'), m.result) AS error,
       m.error_data AS data, COALESCE(l.seconds_text, m.latency_text) AS seconds, m.failure
FROM messages m
LEFT JOIN messages r ON r.message_iri = m.responds_to
LEFT JOIN latencies l ON l.message_iri = m.message_iri
LEFT JOIN (
  SELECT session_iri, MIN_BY(client, CASE WHEN client IS NOT NULL THEN asked END) AS client,
         MIN_BY(server, CASE WHEN server IS NOT NULL THEN answered END) AS server
  FROM (
    SELECT m.session_iri, m.seq AS asked, a.seq AS answered,
           CASE WHEN m.method = 'initialize' THEN json_extract_string(m.params, '/clientInfo/name')
                WHEN POSITION('/clientInfo"' IN m.params) > 0
                THEN json_extract_string(m.params, '/_meta/io.modelcontextprotocol~1clientInfo/name') END AS client,
           CASE WHEN m.method = 'initialize' THEN json_extract_string(a.result, '/serverInfo/name')
                WHEN POSITION('/serverInfo"' IN a.result) > 0
                THEN json_extract_string(a.result, '/_meta/io.modelcontextprotocol~1serverInfo/name') END AS server
    FROM messages m
    LEFT JOIN messages a ON a.responds_to = m.message_iri
    WHERE m.kind = 'Request'
  ) said
  GROUP BY session_iri
) p ON p.session_iri = m.session_iri
WHERE m.failure IS NOT NULL
ORDER BY SUBSTR(m.session_iri || '#', 1, POSITION('#' IN m.session_iri || '#') - 1), m.seq, m.batch_index NULLS FIRST
