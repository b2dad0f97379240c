-- _caveat-bound: For how many profiled kernels the bound or limiter is not known, and which metric is missing.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kind: what it says
--   detail: metrics that one of them lacks
--   item_count: how many

SELECT 'unknown-bound' AS kind, min(c.missing) AS detail, count(*) AS item_count
FROM _ncu_class(run, source := source) c WHERE c.missing IS NOT NULL HAVING count(*) > 0
