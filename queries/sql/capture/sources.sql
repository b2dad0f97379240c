-- sources v1: The files that a run was ingested from.
-- grain: one file or export folder
-- key: source_id
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: number within the run
--   kind: what captured it
--   form: form of the file
--   path: path as given
--   rank_id: rank of a multi-process job; NULL when unknown
--   tool_version: version of the tool that wrote it
--   schema_version: version of its schema
--   size_bytes: bytes on disk
--   row_count: rows stored
--   status: ok or partial
--   reason: why not ok; NULL when ok
--   duration_ns: length of the capture
--   sha256: SHA-256 of its content

SELECT s.source_id, s.kind, s.form, s.path, s.rank_id, s.tool_version, s.schema_version, s.size_bytes, s.row_count, s.status, s.reason, s.duration_ns, s.sha256
FROM source s
WHERE s.run_id = run
ORDER BY s.source_id
