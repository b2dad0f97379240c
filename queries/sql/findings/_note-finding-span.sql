-- _note-finding-span: What work findings are about, where that is not all of it, or none.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: the stage that findings are asked of; (none) for all device work of a run without measured passes
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

WITH counted AS (
    SELECT t.source_id FROM _timeline(run, source := source) t
), whole AS (
    SELECT count(*) AS parts, sum(t.kernel_ns + t.graph_ns + t.copy_ns)::BIGINT AS busy_ns
    FROM device_time t WHERE t.run_id = run AND t.range_id IS NULL AND t.source_id IN (SELECT counted.source_id FROM counted)
), pass AS (
    SELECT p.range_id FROM stage_pass p WHERE p.run_id = run AND NOT p.is_warmup AND p.source_id IN (SELECT counted.source_id FROM counted)
), own AS (
    SELECT count(*) AS parts, sum(s.busy_ns)::BIGINT AS busy_ns, coalesce(bool_or(s.stage = stage), false) AS is_asked
    FROM finding_span s WHERE s.run_id = run AND s.stage IS NOT NULL AND _is_asked(s.kind, s.is_counted, source)
), n AS (
    SELECT whole.parts, whole.busy_ns, own.parts AS own_parts, own.busy_ns AS own_busy_ns, own.is_asked, (SELECT count(*) FROM pass) AS passes,
        whole.parts = 0 AND EXISTS (SELECT 1 FROM kernel k WHERE k.run_id = run AND k.source_id IN (SELECT counted.source_id FROM counted)) AS is_old
    FROM whole CROSS JOIN own
)
SELECT 'no rule was tried: ' || CASE WHEN n.passes > 0 AND stage = '(none)' THEN 'findings of a run with measured passes are of these passes, and what is outside them is not judged'
    WHEN stage IS NOT NULL AND n.parts > 0 THEN 'the stage has no device work in measured passes to judge' WHEN n.passes > 0 AND n.parts > 0 THEN 'the measured passes have no device work to judge' ELSE 'there is no device work to judge' END AS note
FROM n WHERE NOT n.is_old AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = run) AND CASE WHEN n.passes = 0 THEN n.parts = 0 OR stage <> '(none)' WHEN stage IS NULL THEN n.own_parts = 0 ELSE NOT n.is_asked END
UNION ALL
SELECT 'the run has no measured passes of a stage: findings are of all its device work, loading and warm-up included' FROM n WHERE n.parts > 0 AND n.passes = 0 AND coalesce(stage = '(none)', true)
UNION ALL
SELECT format('findings are of the measured passes of stages, which hold {:.1f} % of the time in which the GPUs were busy', 100 * n.own_busy_ns / n.busy_ns) FROM n WHERE n.busy_ns > 0 AND n.own_busy_ns < 0.9 * n.busy_ns
