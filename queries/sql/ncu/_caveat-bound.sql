-- _caveat-bound: Profiled kernels with an unknown bound or limiter, and the missing metrics.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
--   {source}
-- columns:
--   kind: what it says
--   detail: missing metrics of one of them
--   item_count: how many

SELECT
    'unknown-bound' AS kind,
    min(c.missing) AS detail,
    count(*) AS item_count
FROM _ncu_class(run, source := source) c
WHERE c.missing IS NOT NULL
HAVING count(*) > 0
