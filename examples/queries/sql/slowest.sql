SELECT r.message_iri AS request, r.session_iri AS session, p.client, p.server, COALESCE(r.time_text, r.clock) AS time,
       COALESCE(l.seconds_text, a.latency_text) AS seconds, r.method, r.tool,
       COALESCE(r.id_string, r.id_number) AS id, a.message_iri AS answer, a.kind
FROM messages a
JOIN messages r ON r.message_iri = a.responds_to
LEFT JOIN latencies l ON l.message_iri = a.message_iri
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
) p ON p.session_iri = r.session_iri
WHERE COALESCE(l.seconds, a.latency_s) IS NOT NULL
ORDER BY COALESCE(l.seconds, a.latency_s) DESC, r.message_iri
LIMIT 20
