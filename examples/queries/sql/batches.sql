SELECT b.message_iri AS message, b.session_iri AS session, COALESCE(b.time_text, b.clock) AS time, b.sender,
       COUNT(e.message_iri) AS messages,
       SUM(CASE WHEN e.kind = 'Request' THEN 1 ELSE 0 END) AS requests,
       SUM(CASE WHEN e.kind = 'Notification' THEN 1 ELSE 0 END) AS notifications,
       SUM(CASE WHEN e.kind = 'Response' THEN 1 ELSE 0 END) AS responses,
       SUM(CASE WHEN e.kind = 'ErrorResponse' THEN 1 ELSE 0 END) AS errors,
       SUM(CASE WHEN e.kind = 'InvalidMessage' THEN 1 ELSE 0 END) AS others,
       SUM(CASE WHEN e.kind = 'Request' AND a.message_iri IS NULL THEN 1 ELSE 0 END) AS noAnswer
FROM messages b
LEFT JOIN messages e ON e.batch_iri = b.message_iri
LEFT JOIN messages a ON a.responds_to = e.message_iri
WHERE b.kind = 'Batch'
GROUP BY b.message_iri, b.session_iri, b.seq, COALESCE(b.time_text, b.clock), b.sender
ORDER BY b.session_iri, b.seq
