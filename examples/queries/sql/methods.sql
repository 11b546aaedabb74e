WITH asked AS (
  SELECT r.method, a.kind AS answer, s.one_sided, a.failure, COALESCE(l.seconds, a.latency_s) AS latency
  FROM messages r
  LEFT JOIN messages a ON a.responds_to = r.message_iri
  LEFT JOIN latencies l ON l.message_iri = a.message_iri
  JOIN sessions s ON s.session_iri = r.session_iri
  WHERE r.kind = 'Request'
), ranked AS (
  SELECT method, latency, ROW_NUMBER() OVER (PARTITION BY method ORDER BY latency) AS place,
         COUNT(*) OVER (PARTITION BY method) AS number
  FROM asked
  WHERE latency IS NOT NULL
), timed AS (
  SELECT method, COUNT(*) AS known, MIN(latency) AS least, ROUND(AVG(latency), 6) AS average,
         MIN(CASE WHEN place * 2 >= number THEN latency END) AS median,
         MIN(CASE WHEN place * 100 >= number * 95 THEN latency END) AS high,
         MIN(CASE WHEN place * 100 >= number * 99 THEN latency END) AS highest, MAX(latency) AS most
  FROM ranked
  GROUP BY method
), counts AS (
  SELECT method, COUNT(*) AS requests, COUNT(failure) AS failures,
         SUM(CASE WHEN answer IS NULL AND one_sided IS NULL THEN 1 ELSE 0 END) AS silent
  FROM asked
  GROUP BY method
), told AS (
  SELECT method, COUNT(*) AS notifications
  FROM messages
  WHERE kind = 'Notification'
  GROUP BY method
)
SELECT COALESCE(c.method, t.method) AS method, COALESCE(c.requests, 0) AS count, COALESCE(c.failures, 0) AS failures,
       COALESCE(c.silent, 0) AS noAnswer, COALESCE(t.notifications, 0) AS notifications,
       l.known AS timed, l.least AS min, l.average AS mean, l.median AS p50, l.high AS p95, l.highest AS p99,
       l.most AS max
FROM counts c
FULL OUTER JOIN told t ON t.method = c.method
LEFT JOIN timed l ON l.method = c.method
ORDER BY 2 DESC, 5 DESC, 1
