-- critical-path-segments v1: The critical path of one stage pass or step in time order: what had to be done before what, from its start to
--     its end without a gap. By default of the kind that took longest.
-- grain: one stretch of time
-- key: nth
-- notes: critical timelines workload launch range
-- params:
--   run VARCHAR: the run
--   top BIGINT = 100: maximum rows; 0 for all
--   stage VARCHAR = NULL: a pass or step of this stage; (none) for a step outside every stage
--   slowest BOOLEAN = false: the slowest of the kind instead of the one of median length
--   step BIGINT = NULL: this pass or step: number as in the column step of critical-path
--   {source}
-- columns:
--   nth: 1, 2, ... in time order
--   cause: as in critical-path
--   subject: the kernel, operation or API function, of stream-wait what was waited for; on the CPU outside calls, the innermost operator or
--     range. NULL when the cause is about none
--   duration_ns: length
--   start_ns: start, from the start of the source
--   range: innermost operator or range on the thread; NULL outside, and on a GPU
--   device: GPU; NULL on the CPU
--   stream: CUDA stream, of stream-wait that of what was waited for; NULL on the CPU, and when not recorded
--   tid: thread; NULL on a GPU
--   stage: stage, by stage_rule; (none) outside every stage
--   step: number of the pass or step among those with a path
--   source_id: the source
--   pid: process

WITH shown AS (
    SELECT s.step, s.step_id, s.stage, s.source_id, s.pid
    FROM _critical_step(run, source := source) s
    WHERE (stage IS NULL OR s.stage = stage)
        AND s.has_segments
        AND CASE WHEN step IS NOT NULL THEN s.step = step WHEN slowest THEN s.is_slowest ELSE s.is_median END
    ORDER BY s.step
    LIMIT 1
)
SELECT
    g.nth,
    g.cause,
    coalesce(k.name, g.operation, a.name, o.name, p.name) AS subject,
    g.duration_ns,
    g.start_ns,
    coalesce(o.name, p.name) AS range,
    g.device_id AS device,
    g.stream_id AS stream,
    g.tid,
    s.stage,
    s.step,
    s.source_id,
    s.pid
FROM shown s
JOIN critical_segment g ON g.run_id = run AND g.step_id = s.step_id
LEFT JOIN kernel_name k ON k.run_id = run AND k.kernel_name_id = g.kernel_name_id
LEFT JOIN api_name a ON a.run_id = run AND a.api_name_id = g.api_name_id
LEFT JOIN op_name o ON o.run_id = run AND o.op_name_id = g.op_name_id
LEFT JOIN range_path p ON p.run_id = run AND p.path_id = g.name_path_id
WHERE top = 0 OR g.nth <= top
ORDER BY g.nth
