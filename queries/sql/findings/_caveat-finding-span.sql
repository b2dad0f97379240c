-- _caveat-finding-span: What work findings are about, where that is not all of it, or none.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: the stage that findings are asked of; (none) for all device work of a run without measured passes
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kind: what it says
--   ratio: what part of the time in which the GPUs were busy they are about

WITH counted AS (
    SELECT t.source_id FROM _timeline(run, source := source) t
), whole AS (
    SELECT count(*) AS parts, sum(t.kernel_ns + t.graph_ns + t.copy_ns)::BIGINT AS busy_ns
    FROM device_time t WHERE t.run_id = run AND t.range_id IS NULL AND t.source_id IN (SELECT counted.source_id FROM counted)
), own AS (
    SELECT count(*) AS parts, sum(s.busy_ns)::BIGINT AS busy_ns, coalesce(bool_or(s.stage = stage), false) AS is_asked
    FROM finding_span s WHERE s.run_id = run AND s.stage IS NOT NULL AND _is_asked(s.kind, s.is_counted, source)
), n AS (
    SELECT whole.parts, whole.busy_ns, own.parts AS own_parts, own.busy_ns AS own_busy_ns, own.is_asked,
        (SELECT count(*) FROM stage_pass p WHERE p.run_id = run AND NOT p.is_warmup AND p.source_id IN (SELECT counted.source_id FROM counted)) AS passes,
        whole.parts = 0 AND EXISTS (SELECT 1 FROM kernel_duration k WHERE k.run_id = run AND k.source_id IN (SELECT counted.source_id FROM counted)) AS is_old
    FROM whole CROSS JOIN own
)
SELECT CASE WHEN n.passes > 0 AND stage = '(none)' THEN 'untried-outside-passes' WHEN stage IS NOT NULL AND n.parts > 0 THEN 'untried-stage' WHEN n.passes > 0 AND n.parts > 0 THEN 'untried-passes' ELSE 'untried-all' END AS kind, NULL::DOUBLE AS ratio
FROM n WHERE NOT n.is_old AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = run) AND CASE WHEN n.passes = 0 THEN n.parts = 0 OR stage <> '(none)' WHEN stage IS NULL THEN n.own_parts = 0 ELSE NOT n.is_asked END
UNION ALL
SELECT 'findings-of-all-work', NULL FROM n WHERE n.parts > 0 AND n.passes = 0 AND coalesce(stage = '(none)', true)
UNION ALL
SELECT 'findings-of-passes', n.own_busy_ns / n.busy_ns FROM n WHERE n.busy_ns > 0 AND n.own_busy_ns < 0.9 * n.busy_ns
