-- kept-files v1: Files that the workload wrote and prof capture --keep kept in the run's folder, below kept/.
-- grain: one file
-- key: source_id, path
-- notes: capture
-- params:
--   run VARCHAR: the run
--   top BIGINT = 0: rows at most; 0 for all
-- columns:
--   path: path below the working directory
--   pass: the last recording that wrote it, whose content it has
--   size_bytes: file size; NULL when it is unknown
--   sha256: SHA-256 of the content; NULL when it was not kept
--   reason: why it was not kept; NULL when it was
--   source_id: the source: run.json

SELECT
    k.path,
    p.name AS pass,
    k.size_bytes,
    k.sha256,
    k.reason,
    k.source_id
FROM capture_kept k
LEFT JOIN capture_pass p ON p.run_id = k.run_id AND p.source_id = k.source_id AND p.pass_id = k.pass_id
WHERE k.run_id = run
QUALIFY top = 0 OR row_number() OVER (ORDER BY k.source_id, k.path) <= top
ORDER BY k.source_id, k.path
