-- passes v2: Each pass of each stage in the order of time, warm-up included: where stages' means come from.
-- grain: one outermost range of a stage
-- key: range_id
-- notes: launch range timelines
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   device BIGINT = NULL: only work on this GPU, and only passes that have some
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage, by stage_rule
--   pass: 1, 2, ... within the stage, source and process
--   path: normalised names of the ranges from the outermost one to the pass
--   cpu_ns: time on the CPU; NULL when it never ended
--   gpu_span_ns: first start to last end of its device work; NULL when it has none
--   gpu_busy_ns: union of its device intervals, added up over devices
--   gpu_sum_ns: sum of the durations of its kernels, copies, fills and graph replays
--   kernel_count: kernels
--   is_warmup: whether a warm-up rule matches, so that stages leaves it out
--   start_ns: start on the CPU, from the start of the source
--   source_id: the source
--   pid: process
--   range_id: the range

SELECT s.stage, row_number() OVER (PARTITION BY s.stage, n.source_id, n.pid ORDER BY n.start_ns, n.range_id) AS pass, p.path,
    t.cpu_ns, t.gpu_span_ns, t.gpu_busy_ns, t.gpu_sum_ns, t.kernel_count, s.is_warmup, n.start_ns, n.source_id, n.pid, n.range_id
FROM _range_time_v2(run, device := device, source := source) t
JOIN nvtx_range n ON n.run_id = _run_id_v1(run) AND n.range_id = t.range_id
JOIN range_path p ON p.run_id = n.run_id AND p.path_id = n.path_id
JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.stage_path_id = n.path_id
WHERE stage IS NULL OR s.stage = stage
ORDER BY n.source_id, n.start_ns, n.range_id
