-- _ncu-name: Which kernel of the counted timeline a kernel that Nsight Compute profiled is, by name: the very same name, else the only one with the same shared spelling.
-- grain: one name of a profiled kernel
-- key: kernel_name_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kernel_name_id: name as ncu spells it
--   timeline_name_id: name as the timeline spells it; NULL when the timeline has none, or several of the spelling
--   candidates: names of the timeline that have the spelling

WITH timeline AS (
    SELECT DISTINCT k.kernel_name_id
    FROM (SELECT DISTINCT x.source_id, x.kernel_name_id FROM kernel x WHERE x.run_id = run) k
    WHERE k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), t AS (
    SELECT timeline.kernel_name_id, sp.spelling FROM timeline JOIN kernel_spelling sp ON sp.run_id = run AND sp.kernel_name_id = timeline.kernel_name_id
), n AS (
    SELECT DISTINCT l.kernel_name_id, sp.spelling
    FROM ncu_launch l LEFT JOIN kernel_spelling sp ON sp.run_id = l.run_id AND sp.kernel_name_id = l.kernel_name_id
    WHERE l.run_id = run AND l.kind = 'kernel'
)
SELECT n.kernel_name_id, CASE WHEN bool_or(t.kernel_name_id = n.kernel_name_id) THEN n.kernel_name_id WHEN count(t.kernel_name_id) = 1 THEN min(t.kernel_name_id) END AS timeline_name_id,
    count(t.kernel_name_id) AS candidates
FROM n LEFT JOIN t ON t.spelling = n.spelling
GROUP BY n.kernel_name_id
