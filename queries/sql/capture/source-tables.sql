-- source-tables v1: Ingest status of every table of a run's sources: rows read, rows stored, and why rows were skipped.
-- grain: one table of one source
-- key: source_id, table
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: the source
--   table: table of the source
--   read_count: rows read; NULL when the table was not read
--   stored_count: rows stored; NULL when the table was not read
--   reason: why rows were skipped; NULL when all were stored

SELECT
    p.source_id,
    p.part AS "table",
    p.read_count,
    p.stored_count,
    p.reason
FROM source_part p
WHERE p.run_id = run
ORDER BY p.source_id, p.stored_count DESC NULLS LAST, p.part
