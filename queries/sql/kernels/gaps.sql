-- gaps v3: Idle gaps of the GPUs, grouped by the work before, the work after and the stage that launched it, with what the launching thread did meanwhile, in any process.
-- grain: one stage, work before and work after
-- key: stage, before, after
-- notes: timelines accounting launch warm
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only gaps before work of this stage; (none) for gaps before work outside every stage or without a captured launch
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   rank: rank by total time
--   total_ns: total gap time; all rows of all stages together are the idle time of (run) in accounting
--   cause: largest part of the gap time, as in accounting: launch, launch-delay, launch-latency, wait, call, host, profiler, queued or unknown
--   before: work that ended last before the gap: kernel, copy, fill or graph replay; (any) beyond the first 200,000 patterns of a source, which are not kept separately
--   after: work that started at its end: kernel, copy, fill or graph replay; (any) beyond the first 200,000 patterns of a source
--   stage: stage that launched the work after, warm-up passes included; (none) outside every stage, or when its launch was not captured (unknown_ns)
--   gap_count: gaps
--   idle_ratio: total_ns as a share of all rows, before top applies
--   mean_ns: mean gap
--   max_ns: longest gap
--   launch_ns: idle, in an API call that launches work in less than 100 us, or launches a graph
--   launch_delay_ns: idle, between two CUDA calls on the way from one launch to the next
--   launch_latency_ns: idle, after a launch that began when the GPU had run dry, until its work started within 100 us
--   wait_ns: idle, in an API call that waits for the GPU, or in a copy that is not the next work
--   call_ns: idle, in another CUDA call (memory, modules, streams), or in a launch of 100 us or longer, which loads code first
--   host_ns: idle, outside CUDA for longer than launches take, 100 us or more
--   profiler_ns: idle, profiler at work on that thread; 0 where the capture does not record on which thread, as with the PyTorch profiler
--   queued_ns: idle although launched: the launch began before the GPU ran dry, or 100 us or longer before the work started
--   unknown_ns: idle before work whose launch was not captured

WITH g AS (
    SELECT coalesce(s.stage, '(none)') AS stage, g.before_kernel_name_id AS before_id, g.before_operation, g.after_kernel_name_id AS after_id, g.after_operation,
        sum(g.gap_count)::BIGINT AS gap_count, sum(g.duration_ns)::BIGINT AS total_ns, max(g.max_ns) AS max_ns, sum(g.launch_ns)::BIGINT AS launch_ns, sum(g.launch_delay_ns)::BIGINT AS launch_delay_ns, sum(g.launch_latency_ns)::BIGINT AS launch_latency_ns, sum(g.wait_ns)::BIGINT AS wait_ns,
        sum(g.call_ns)::BIGINT AS call_ns, sum(g.host_ns)::BIGINT AS host_ns, sum(g.profiler_ns)::BIGINT AS profiler_ns, sum(g.queued_ns)::BIGINT AS queued_ns, sum(g.unknown_ns)::BIGINT AS unknown_ns
    FROM gap_sum g LEFT JOIN path_stage s ON s.run_id = g.run_id AND s.path_id = g.path_id
    WHERE g.run_id = run AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR g.device_id = device) AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    GROUP BY ALL
), q AS (
    SELECT coalesce(b.name, g.before_operation) AS before, coalesce(a.name, g.after_operation) AS after, row_number() OVER (ORDER BY g.total_ns DESC, before, after, g.stage) AS rank, g.stage, g.total_ns, g.gap_count, g.max_ns, g.launch_ns, g.launch_delay_ns, g.launch_latency_ns, g.wait_ns, g.call_ns, g.host_ns, g.profiler_ns, g.queued_ns, g.unknown_ns
    FROM g
    LEFT JOIN kernel_name b ON b.run_id = run AND b.kernel_name_id = g.before_id
    LEFT JOIN kernel_name a ON a.run_id = run AND a.kernel_name_id = g.after_id
)
SELECT q.rank, q.total_ns, _gap_cause(q.launch_ns, q.launch_delay_ns, q.launch_latency_ns, q.wait_ns, q.call_ns, q.host_ns, q.profiler_ns, q.queued_ns, q.unknown_ns) AS cause, q.before, q.after, q.stage,
    q.gap_count, q.total_ns / nullif((SELECT sum(x.total_ns) FROM g x), 0) AS idle_ratio, q.total_ns / q.gap_count AS mean_ns, q.max_ns,
    q.launch_ns, q.launch_delay_ns, q.launch_latency_ns, q.wait_ns, q.call_ns, q.host_ns, q.profiler_ns, q.queued_ns, q.unknown_ns
FROM q
WHERE top = 0 OR q.rank <= top
ORDER BY q.rank
