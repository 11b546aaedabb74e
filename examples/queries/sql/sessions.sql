SELECT s.session_iri AS session, s.source, s.format, p.client, p.server, s.record_count AS records,
       COALESCE(c.requests, 0) AS requests, COALESCE(c.notifications, 0) AS notifications,
       COALESCE(c.responses, 0) AS responses, COALESCE(c.errors, 0) AS errors, COALESCE(c.batches, 0) AS batches,
       COALESCE(c.others, 0) AS others,
       CASE WHEN s.one_sided THEN 0 ELSE COALESCE(c.requests - c.answered, 0) END AS noAnswer,
       s.started_text AS started, s.ended_text AS ended,
       COALESCE(c.failures, 0) AS failures, b.before, l.timed, l.min, l.mean, l.p50, l.p95, l.p99, l.max
FROM sessions s
LEFT JOIN (
  SELECT m.session_iri, o.session_iri AS before FROM sessions o JOIN messages m ON m.message_iri = o.restarted_by
) b ON b.session_iri = s.session_iri
LEFT JOIN (
  SELECT session_iri,
         SUM(CASE WHEN kind = 'Request' THEN 1 ELSE 0 END) AS requests,
         SUM(CASE WHEN kind = 'Notification' THEN 1 ELSE 0 END) AS notifications,
         SUM(CASE WHEN kind = 'Response' THEN 1 ELSE 0 END) AS responses,
         SUM(CASE WHEN kind = 'ErrorResponse' THEN 1 ELSE 0 END) AS errors,
         SUM(CASE WHEN kind = 'Batch' THEN 1 ELSE 0 END) AS batches,
         SUM(CASE WHEN kind IN ('InvalidMessage', 'MalformedRecord') THEN 1 ELSE 0 END) AS others,
         COUNT(DISTINCT responds_to) AS answered, COUNT(failure) AS failures
  FROM messages
  GROUP BY session_iri
) c ON c.session_iri = s.session_iri
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
) p ON p.session_iri = s.session_iri
LEFT JOIN (
  SELECT session_iri, COUNT(*) AS timed, MIN(latency) AS min, ROUND(AVG(latency), 6) AS mean,
         MIN(CASE WHEN place * 2 >= number THEN latency END) AS p50,
         MIN(CASE WHEN place * 100 >= number * 95 THEN latency END) AS p95,
         MIN(CASE WHEN place * 100 >= number * 99 THEN latency END) AS p99, MAX(latency) AS max
  FROM (
    SELECT session_iri, latency, ROW_NUMBER() OVER (PARTITION BY session_iri ORDER BY latency) AS place,
           COUNT(*) OVER (PARTITION BY session_iri) AS number
    FROM (
      SELECT a.session_iri, COALESCE(e.seconds, a.latency_s) AS latency
      FROM messages a
      LEFT JOIN latencies e ON e.message_iri = a.message_iri
      WHERE a.responds_to IS NOT NULL
    ) known
    WHERE latency IS NOT NULL
  ) ranked
  GROUP BY session_iri
) l ON l.session_iri = s.session_iri
ORDER BY 1
