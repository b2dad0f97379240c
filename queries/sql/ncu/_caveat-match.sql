-- _caveat-match: How many profiled launches stand for kernels of the counted timeline, and for how much of its time.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kind: what it says
--   item_count: how many
--   of_count: of how many
--   time_ns: how long
--   of_time_ns: of how long

WITH m AS (
    SELECT y.matched_by, y.timeline_name_id, y.grid, y.block FROM _ncu_match(run, source := source) y
), matched AS (
    SELECT DISTINCT m.timeline_name_id, m.grid, m.block FROM m WHERE m.matched_by IS NOT NULL
), part AS (
    SELECT coalesce(sum(t.total_ns), 0) AS ns
    FROM _timeline_grid(run, source := source) t JOIN matched ON matched.timeline_name_id = t.kernel_name_id AND matched.grid = t.grid AND matched.block = t.block
), whole AS (
    SELECT coalesce(sum(k.ns), 0) AS ns, count(*) AS sources
    FROM (SELECT x.source_id, sum(x.duration_ns) AS ns FROM kernel x WHERE x.run_id = run GROUP BY x.source_id) k
    WHERE k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), n AS (
    SELECT count(m.matched_by) AS matched, count(*) AS profiled FROM m
)
SELECT 'matched-launches' AS kind, n.matched AS item_count, n.profiled AS of_count, part.ns::DOUBLE AS time_ns, whole.ns::DOUBLE AS of_time_ns
FROM n, part, whole
WHERE n.profiled > 0 AND whole.sources > 0
