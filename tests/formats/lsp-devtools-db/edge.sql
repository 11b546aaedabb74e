CREATE TABLE protocol (session TEXT, timestamp REAL, source TEXT, id TEXT NULL, method TEXT NULL, params TEXT NULL, result TEXT NULL, error TEXT NULL);
INSERT INTO protocol(rowid, session, timestamp, source, id, method) VALUES (12, NULL, '2026-01-05T10:00:01+00:00', 'agent', '007', 'quote "me"');
INSERT INTO protocol(rowid, session, timestamp, source, id, result) VALUES (3, '', NULL, NULL, -1, 'not json');
INSERT INTO protocol(rowid, session, timestamp, source) VALUES (7, 's', 'never', 'client');
