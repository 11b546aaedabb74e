SELECT r.message_iri AS request, r.session_iri AS session, p.server, COALESCE(r.time_text, r.clock) AS time,
       a.latency_text AS seconds, r.method, r.tool, COALESCE(r.id_string, r.id_number) AS id, a.message_iri AS answer, a.kind
FROM messages a
JOIN messages r ON r.message_iri = a.responds_to
LEFT JOIN (
  SELECT session_iri, MIN_BY(server, CASE WHEN server IS NOT NULL THEN seq END) AS server
  FROM (
    SELECT q.session_iri, a.seq,
           CASE WHEN q.method = 'initialize' THEN json_extract_string(a.result, '/serverInfo/name')
                WHEN POSITION('/serverInfo"' IN a.result) > 0
                THEN json_extract_string(a.result, '/_meta/io.modelcontextprotocol~1serverInfo/name') END AS server
    FROM messages q
    JOIN messages a ON a.responds_to = q.message_iri
    WHERE q.kind = 'Request'
  ) said
  GROUP BY session_iri
) p ON p.session_iri = r.session_iri
WHERE a.latency_s IS NOT NULL
ORDER BY a.latency_s DESC, r.message_iri
LIMIT 20
