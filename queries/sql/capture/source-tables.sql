-- source-tables v1: Each table of a run's sources: read, stored, or skipped and why.
-- grain: one table of a source
-- key: source_id, table
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: the source
--   table: table of the export
--   read_count: rows read; NULL when not read
--   stored_count: rows stored; NULL when not read
--   reason: why rows were not stored; NULL when all were

SELECT p.source_id, p.part AS "table", p.read_count, p.stored_count, p.reason
FROM source_part p
WHERE p.run_id = run
ORDER BY p.source_id, p.stored_count DESC NULLS LAST, p.part
