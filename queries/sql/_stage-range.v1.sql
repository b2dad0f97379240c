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
--   stage_count: passes of the stage in its process, those left out where is_ruled; NULL where is_ruled
--   prefill_count: the same for the stage prefill
--   nth_prefill_count: prefills of its process that had begun by its start, itself included; NULL where is_ruled
--   nth: 1, 2, ... among the passes of its stage with the same nth_prefill_count
--   group_count: how many these are
--   cpu_ns: time on the CPU; NULL when it never ended
--   gpu_span_ns: first start to last end of its device work; NULL when it has none
--   gpu_busy_ns: union of its device intervals, added up over devices
--   gpu_sum_ns: sum of the durations of its device work
--   kernel_sum_ns: sum of the durations of its kernels
--   kernel_count: kernels
--   memop_count: copies and fills
--   graph_count: graph replays traced as a whole

-- Places are counted before passes without work on the GPU asked for are left out: which pass is which does not depend on the GPU.
-- CASE and not FILTER: a filtered count over a window takes DuckDB 1.5.5 a time that grows with the square of the passes.
WITH pass AS (
    SELECT s.stage, n.range_id, n.source_id, n.pid, n.path_id, n.start_ns, n.start_ns + n.duration_ns AS end_ns, s.is_warmup AS is_ruled
    FROM nvtx_range n
    JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.stage_path_id = n.path_id
    WHERE n.run_id = _run_id_v1(run)
), place AS (
    SELECT p.range_id, p.stage, p.source_id, p.pid, p.start_ns, row_number() OVER (PARTITION BY p.stage, p.source_id, p.pid ORDER BY p.start_ns DESC, p.range_id DESC) AS back_count,
        count(*) OVER (PARTITION BY p.stage, p.source_id, p.pid) AS stage_count,
        count(CASE WHEN p.stage = 'prefill' THEN 1 END) OVER (PARTITION BY p.source_id, p.pid) AS prefill_count,
        count(CASE WHEN p.stage = 'prefill' THEN 1 END) OVER (PARTITION BY p.source_id, p.pid ORDER BY p.start_ns) AS nth_prefill_count
    FROM pass p WHERE NOT p.is_ruled
), nth AS (
    SELECT p.range_id, p.back_count, p.stage_count, p.prefill_count, p.nth_prefill_count,
        row_number() OVER (PARTITION BY p.stage, p.source_id, p.pid, p.nth_prefill_count ORDER BY p.start_ns, p.range_id) AS nth,
        count(*) OVER (PARTITION BY p.stage, p.source_id, p.pid, p.nth_prefill_count) AS group_count
    FROM place p
)
SELECT p.stage, p.range_id, p.source_id, p.pid, p.path_id, t.raw_name, p.start_ns, p.end_ns, p.is_ruled,
    b.back_count, b.stage_count, b.prefill_count, b.nth_prefill_count, b.nth, b.group_count,
    t.cpu_ns, t.gpu_span_ns, t.gpu_busy_ns, t.gpu_sum_ns, t.kernel_sum_ns, t.kernel_count, t.memop_count, t.graph_count
FROM pass p
JOIN _range_time_v2(run, device := device, source := source) t ON t.range_id = p.range_id
LEFT JOIN nth b ON b.range_id = p.range_id
