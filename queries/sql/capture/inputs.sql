-- inputs v1: The files that were given to the workload, by --input of prof capture.
-- grain: one file
-- key: source_id, path
-- notes: capture
-- params:
--   run VARCHAR: the run
-- columns:
--   path: path as given, or below the folder that was given
--   size_bytes: its size; NULL when it could not be read
--   sha256: SHA-256 of its content; NULL when it could not be read
--   source_id: the source: run.json

SELECT i.path, i.size_bytes, i.sha256, i.source_id
FROM capture_input i
WHERE i.run_id = run
ORDER BY i.source_id, i.path
