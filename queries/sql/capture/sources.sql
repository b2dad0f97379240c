-- sources v2: The files a run was ingested from, and when each came.
-- grain: one file or export directory
-- key: source_id
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: source number within the run
--   kind: tool that captured it
--   form: file format
--   path: path as given
--   added_at: time of its ingest, UTC, to the second; that of the run where an older prof stored it
--   rank_id: rank in a multi-process job; NULL when unknown
--   tool_version: version of the tool that wrote it
--   schema_version: version of its schema
--   size_bytes: size on disk
--   row_count: rows stored
--   status: ok or partial
--   reason: why the status is not ok; NULL when ok
--   duration_ns: length of the capture
--   sha256: SHA-256 of its content

SELECT
    s.source_id,
    s.kind,
    s.form,
    s.path,
    date_trunc('second', coalesce(s.added_at, r.created_at)) AS added_at,
    s.rank_id,
    s.tool_version,
    s.schema_version,
    s.size_bytes,
    s.row_count,
    s.status,
    s.reason,
    s.duration_ns,
    s.sha256
FROM source s JOIN run r ON r.run_id = s.run_id
WHERE s.run_id = run
ORDER BY s.source_id
