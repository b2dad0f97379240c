-- _finding-span: What findings are shares of: the spans of a stage's measured passes on a GPU, cut into their parts; of a run without such passes the span of all its device work.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   pass VARCHAR = NULL: name of a relation that holds _finding-pass of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   passes: measured passes with work there; 1 for all device work of a source
--   span_ns: sum of their spans
--   busy_ns: work of their own ran
--   kernel_ns: kernels of their own ran
--   graph_ns: graph replays of their own whose kernels were not traced ran, and no kernel
--   copy_ns: copies and fills of their own ran, and neither of those
--   launch_ns: idle: inside an API call that launches work
--   late_ns: idle: between two CUDA calls, on the way to the next launch
--   launch_spread: how launch_ns and late_ns together are spread over the passes, in words
--   wait_ns: idle: inside an API call that waits for the device, or copies what is not the next work
--   wait_spread: how it is spread over the passes, in words
--   call_ns: idle: inside another CUDA call
--   call_spread: how it is spread over the passes, in words
--   host_ns: idle: outside CUDA for long
--   host_spread: how it is spread over the passes, in words
--   queued_ns: idle although the launch had returned
--   queued_spread: how it is spread over the passes, in words
--   gap_count: idle gaps

WITH p AS (
    SELECT p.range_id, p.stage FROM query(_given(pass, '_finding_pass', run, source)) p
), t AS (
    SELECT p.stage, t.device_id, t.end_ns - t.start_ns AS span_ns, t.kernel_ns, t.graph_ns, t.copy_ns, t.launch_ns, t.late_ns, t.launch_ns + t.late_ns AS launch_bound_ns, t.wait_ns, t.call_ns, t.host_ns, t.queued_ns, t.gap_count
    FROM device_time t JOIN p ON p.range_id = t.range_id
    WHERE t.run_id = run
    UNION ALL
    SELECT NULL, t.device_id, t.end_ns - t.start_ns, t.kernel_ns, t.graph_ns, t.copy_ns, t.launch_ns, t.late_ns, t.launch_ns + t.late_ns, t.wait_ns, t.call_ns, t.host_ns, t.queued_ns, t.gap_count
    FROM device_time t
    WHERE t.run_id = run AND t.range_id IS NULL AND t.source_id IN (SELECT x.source_id FROM _timeline(run, source := source) x) AND NOT EXISTS (SELECT 1 FROM p)
), s AS (
    SELECT t.stage, t.device_id AS device, count(*) AS passes, CASE WHEN t.stage IS NULL THEN 1 ELSE count(*) END AS spread, sum(t.span_ns)::BIGINT AS span_ns, sum(t.kernel_ns)::BIGINT AS kernel_ns, sum(t.graph_ns)::BIGINT AS graph_ns, sum(t.copy_ns)::BIGINT AS copy_ns,
        sum(t.launch_ns)::BIGINT AS launch_ns, sum(t.late_ns)::BIGINT AS late_ns, sum(t.wait_ns)::BIGINT AS wait_ns, sum(t.call_ns)::BIGINT AS call_ns, sum(t.host_ns)::BIGINT AS host_ns, sum(t.queued_ns)::BIGINT AS queued_ns, sum(t.gap_count)::BIGINT AS gap_count,
        max(t.launch_bound_ns) AS launch_max, max(t.wait_ns) AS wait_max, max(t.call_ns) AS call_max, max(t.host_ns) AS host_max, max(t.queued_ns) AS queued_max,
        median(t.launch_bound_ns) AS launch_median, median(t.wait_ns) AS wait_median, median(t.call_ns) AS call_median, median(t.host_ns) AS host_median, median(t.queued_ns) AS queued_median
    FROM t GROUP BY t.stage, t.device_id
)
SELECT s.stage, s.device, s.passes, s.span_ns, s.kernel_ns + s.graph_ns + s.copy_ns AS busy_ns, s.kernel_ns, s.graph_ns, s.copy_ns,
    s.launch_ns, s.late_ns, _spread_text(s.launch_ns + s.late_ns, s.launch_max, s.launch_median, s.spread) AS launch_spread, s.wait_ns, _spread_text(s.wait_ns, s.wait_max, s.wait_median, s.spread) AS wait_spread,
    s.call_ns, _spread_text(s.call_ns, s.call_max, s.call_median, s.spread) AS call_spread, s.host_ns, _spread_text(s.host_ns, s.host_max, s.host_median, s.spread) AS host_spread,
    s.queued_ns, _spread_text(s.queued_ns, s.queued_max, s.queued_median, s.spread) AS queued_spread, s.gap_count
FROM s
