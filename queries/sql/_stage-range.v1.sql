-- _stage-range v1: Each pass of each stage as the timeline has it, with its place among the passes of its process.
-- grain: one outermost range of a stage
-- key: range_id
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only passes that have some
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage, by stage_rule
--   range_id: the range
--   source_id: the source
--   pid: process
--   path_id: path of names
--   raw_name: name as recorded
--   start_ns: start on the CPU
--   end_ns: end on the CPU; NULL when it never ended
--   is_ruled: whether a warm-up rule matches its name
--   back_count: 1 for the last pass of the stage in its process, 2 for the one before, ...; NULL where is_ruled
--   stage_count: passes of the stage in its process, those left out where is_ruled
--   prefill_count: the same for the stage prefill
--   cpu_ns: time on the CPU; NULL when it never ended
--   gpu_span_ns: first start to last end of its device work; NULL when it has none
--   gpu_busy_ns: union of its device intervals, added up over devices
--   gpu_sum_ns: sum of the durations of its device work
--   kernel_sum_ns: sum of the durations of its kernels
--   kernel_count: kernels
--   memop_count: copies and fills
--   graph_count: graph replays traced as a whole

WITH pass AS (
    SELECT s.stage, t.range_id, n.source_id, n.pid, t.path_id, t.raw_name, n.start_ns, n.start_ns + n.duration_ns AS end_ns, s.is_warmup AS is_ruled,
        t.cpu_ns, t.gpu_span_ns, t.gpu_busy_ns, t.gpu_sum_ns, t.kernel_sum_ns, t.kernel_count, t.memop_count, t.graph_count
    FROM _range_time_v2(run, device := device, source := source) t
    JOIN nvtx_range n ON n.run_id = _run_id_v1(run) AND n.range_id = t.range_id
    JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.stage_path_id = n.path_id
), place AS (
    SELECT p.range_id, row_number() OVER (PARTITION BY p.stage, p.source_id, p.pid ORDER BY p.start_ns DESC, p.range_id DESC) AS back_count
    FROM pass p WHERE NOT p.is_ruled
), total AS (
    SELECT p.stage, p.source_id, p.pid, count(*) AS passes FROM pass p WHERE NOT p.is_ruled GROUP BY ALL
)
SELECT p.stage, p.range_id, p.source_id, p.pid, p.path_id, p.raw_name, p.start_ns, p.end_ns, p.is_ruled, b.back_count,
    coalesce(t.passes, 0) AS stage_count, coalesce(f.passes, 0) AS prefill_count,
    p.cpu_ns, p.gpu_span_ns, p.gpu_busy_ns, p.gpu_sum_ns, p.kernel_sum_ns, p.kernel_count, p.memop_count, p.graph_count
FROM pass p
LEFT JOIN place b ON b.range_id = p.range_id
LEFT JOIN total t ON t.stage = p.stage AND t.source_id = p.source_id AND t.pid = p.pid
LEFT JOIN total f ON f.stage = 'prefill' AND f.source_id = p.source_id AND f.pid = p.pid
