-- _caveat-raw-names: That ranges were asked for by their names as recorded, and of the timeline only normalised ones are kept.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
--   raw BOOLEAN = false: whether they were asked for so
--   {source}
-- columns:
--   kind: what it says

WITH counted AS (
    SELECT t.source_id
    FROM _timeline(run, source := source) t
)
SELECT 'no-raw-names' AS kind
FROM run r
WHERE r.run_id = run
    AND raw
    AND EXISTS (SELECT 1 FROM kernel_duration k JOIN counted c ON c.source_id = k.source_id WHERE k.run_id = run AND k.path_id > 0)
    AND NOT EXISTS (SELECT 1 FROM nvtx_range n JOIN counted c ON c.source_id = n.source_id WHERE n.run_id = run)
