-- inputs v1: Input files of the workload, given by prof capture --input.
-- grain: one file
-- key: source_id, path
-- notes: capture
-- params:
--   run VARCHAR: the run
-- columns:
--   path: path as given, or relative to the directory given
--   size_bytes: file size; NULL when the file could not be read
--   sha256: SHA-256 of the content; NULL when the file could not be read
--   source_id: the source: run.json

SELECT i.path, i.size_bytes, i.sha256, i.source_id
FROM capture_input i
WHERE i.run_id = run
ORDER BY i.source_id, i.path
