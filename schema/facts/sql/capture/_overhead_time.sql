-- _overhead_time: How long each recording took that times with and without a profiler are compared by: the workload's process, and of each
--     stage the median of the steady executions that are compared.
-- grain: one recording and stage, and the profiled recordings that it is compared for
-- key: stage, tool, mode, is_profiled, repeat_id
-- needs: capture_pass
-- columns:
--   stage VARCHAR: the stage; NULL for the whole process
--   tool VARCHAR: tool of the profiled recordings
--   mode VARCHAR: mode of the tool
--   is_profiled BOOLEAN: whether it was made under the tool; else without one
--   repeat_id INTEGER: its number among the recordings of its side
--   is_cold BOOLEAN: whether it loaded and compiled what later recordings find in caches: no recording of the capture before it went well.
--     That is in the time of the whole process, not in that of a steady execution
--   ns DOUBLE: the time; NULL where the recording failed

-- A recording of a job of several nodes takes as long as on the slowest of them.
WITH process AS (
    SELECT
        p.tool,
        p.mode,
        p.repeat_id,
        min(p.pass_id % 1000) AS place,
        CASE WHEN bool_and(p.status = 'ok' AND p.workload_ns IS NOT NULL) THEN max(p.workload_ns) END AS ns
    FROM capture_pass p
    WHERE p.run_id = $run
    GROUP BY p.tool, p.mode, p.repeat_id
), cold AS (
    SELECT
        p.tool,
        p.mode,
        p.repeat_id,
        p.ns,
        p.place <= min(CASE WHEN p.ns IS NOT NULL THEN p.place END) OVER () AS is_cold
    FROM process p
), under AS (
    SELECT DISTINCT c.tool, c.mode
    FROM cold c
    WHERE c.tool <> 'none'
), execution AS (
    SELECT
        a.stage,
        a.tool,
        a.mode,
        false AS is_profiled,
        unnest(a.alone_repeat_ids) AS repeat_id,
        unnest(a.alone_ns) AS ns
    FROM _stage_alone a
    UNION ALL
    SELECT
        a.stage,
        a.tool,
        a.mode,
        true,
        unnest(a.profiled_repeat_ids),
        unnest(a.profiled_ns)
    FROM _stage_alone a
)
SELECT
    NULL AS stage,
    u.tool,
    u.mode,
    c.tool <> 'none' AS is_profiled,
    c.repeat_id,
    coalesce(c.is_cold, false) AS is_cold,
    c.ns::DOUBLE AS ns
FROM under u JOIN cold c ON c.tool = 'none' OR c.tool = u.tool AND c.mode = u.mode
UNION ALL
SELECT
    e.stage,
    e.tool,
    e.mode,
    e.is_profiled,
    e.repeat_id,
    false,
    median(e.ns)
FROM execution e
GROUP BY e.stage, e.tool, e.mode, e.is_profiled, e.repeat_id
