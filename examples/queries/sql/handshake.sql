SELECT r.message_iri AS request, r.session_iri AS session, COALESCE(r.time_text, r.clock) AS time,
       COALESCE(json_extract_string(r.params, '/clientInfo/name'),
                json_extract_string(r.params, '/_meta/io.modelcontextprotocol~1clientInfo/name')) AS client,
       COALESCE(json_extract_string(r.params, '/clientInfo/version'),
                json_extract_string(r.params, '/_meta/io.modelcontextprotocol~1clientInfo/version')) AS clientVersion,
       COALESCE(json_extract_string(a.result, '/serverInfo/name'),
                json_extract_string(a.result, '/_meta/io.modelcontextprotocol~1serverInfo/name')) AS server,
       COALESCE(json_extract_string(a.result, '/serverInfo/version'),
                json_extract_string(a.result, '/_meta/io.modelcontextprotocol~1serverInfo/version')) AS serverVersion,
       COALESCE(r.protocol_version,
                json_extract_string(r.params, '/_meta/io.modelcontextprotocol~1protocolVersion')) AS asked,
       a.protocol_version AS agreed,
       COALESCE(to_json(json_keys(r.params, '/capabilities')),
                to_json(json_keys(r.params, '/_meta/io.modelcontextprotocol~1clientCapabilities'))) AS clientCapabilities,
       to_json(json_keys(a.result, '/capabilities')) AS serverCapabilities,
       a.message_iri AS answer,
       CASE WHEN a.kind = 'ErrorResponse' THEN COALESCE(a.error_message, a.value) END AS error, a.latency_text AS seconds
FROM messages r
LEFT JOIN messages a ON a.responds_to = r.message_iri
WHERE r.kind = 'Request' AND r.method IN ('initialize', 'server/discover')
ORDER BY r.session_iri, r.seq, r.message_iri
