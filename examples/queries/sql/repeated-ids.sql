SELECT m.session_iri AS session, m.sender, COALESCE(m.id_string, m.id_number) AS id, m.id_kind || 'Id' AS type,
       COUNT(*) AS requests, COUNT(p.problem) AS open, MIN(m.seq) AS first, MAX(m.seq) AS last
FROM messages m
LEFT JOIN problems p ON p.message_iri = m.message_iri AND p.problem = 'IdReusedWhileOpen'
WHERE m.kind = 'Request' AND m.id_kind <> 'Null'
GROUP BY m.session_iri, m.sender, COALESCE(m.id_string, m.id_number), m.id_kind
HAVING COUNT(*) > 1
ORDER BY 5 DESC, 1, 7, 3
