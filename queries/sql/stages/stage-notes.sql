-- stage-notes v3: Parts of stages that are told apart but never added to them, such as the vision towers inside prefill.
-- grain: one stage and note
-- key: stage, note
-- notes: timelines launch range
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only ranges that have some
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage it is nested in; (none) when in none
--   note: the part, by stage_rule
--   instances: its outermost ranges, warm-up left out: also those within passes that the facts of the workload call warm-up
--   cpu_mean_ns: mean time on the CPU
--   gpu_span_mean_ns: mean over the instances with device work of first start to last end of it
--   gpu_busy_mean_ns: mean union of its device intervals, added up over devices
--   gpu_sum_mean_ns: mean sum of the durations of its kernels, copies, fills and graph replays
--   kernel_count: kernels of all instances

-- A range is within the pass of its source and process that it began in, as in _pass-use.
WITH warm AS (
    SELECT p.source_id, p.pid, p.start_ns, p.end_ns FROM _stage_pass(run, source := source) p WHERE p.is_warmup
)
SELECT coalesce(s.stage, '(none)') AS stage, s.note, count(*) AS instances, avg(t.cpu_ns) AS cpu_mean_ns,
    avg(t.gpu_span_ns) AS gpu_span_mean_ns, avg(t.gpu_busy_ns) AS gpu_busy_mean_ns, avg(t.gpu_sum_ns) AS gpu_sum_mean_ns,
    sum(t.kernel_count)::BIGINT AS kernel_count
FROM _range_time(run, device := device, source := source) t
JOIN nvtx_range n ON n.run_id = run AND n.range_id = t.range_id
JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = t.path_id AND s.note_path_id = t.path_id
WHERE NOT s.is_warmup AND NOT EXISTS (SELECT 1 FROM warm w WHERE w.source_id = n.source_id AND w.pid = n.pid AND n.start_ns >= w.start_ns AND n.start_ns < w.end_ns)
GROUP BY s.stage, s.note
ORDER BY s.stage NULLS LAST, gpu_sum_mean_ns DESC, s.note
