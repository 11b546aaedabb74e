WITH asked AS (
  SELECT r.session_iri, r.sender, r.seq AS begins, a.seq AS ends
  FROM messages r
  LEFT JOIN messages a ON a.responds_to = r.message_iri
  WHERE r.kind = 'Request'
), changes AS (
  SELECT session_iri, sender, begins AS place, 1 AS change FROM asked
  UNION ALL SELECT session_iri, sender, ends, -1 FROM asked WHERE ends IS NOT NULL
), running AS (
  SELECT session_iri, sender, change,
         SUM(change) OVER (PARTITION BY session_iri, sender ORDER BY place, change ROWS UNBOUNDED PRECEDING) AS open
  FROM changes
)
SELECT session_iri AS session, sender, SUM(CASE WHEN change = 1 THEN 1 ELSE 0 END) AS requests,
       SUM(change) AS noAnswer, MAX(open) AS most
FROM running
GROUP BY session_iri, sender
ORDER BY session_iri, sender NULLS FIRST
