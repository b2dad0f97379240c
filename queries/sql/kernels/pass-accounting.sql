-- pass-accounting v3: Where the time of each GPU went in each pass of each stage, warm-up included: what accounting adds up.
-- grain: one outermost range of a stage on one GPU that it has work on
-- key: range_id, device
-- notes: timelines workload accounting launch range
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage, by stage_rule
--   pass: 1, 2, ... within the stage, source and process, as in passes
--   device: GPU
--   span_ns: first start to last end of its device work there: busy_ns, other_ns and idle_ns add up to it
--   busy_ratio: busy_ns as a share of the span; NULL when that is 0
--   launch_bound_ratio: launch_bound_ns as a share of the span; NULL when that is 0
--   busy_ns: work of its own ran: the next six columns add up to it
--   compute_ns: kernels ran, and no collective
--   collective_overlapped_ns: a collective ran, and another kernel too
--   collective_exposed_ns: a collective ran, and no other kernel
--   graph_ns: graph replays traced as a whole ran, and no kernel
--   copy_ns: copies and fills ran, and neither of those
--   other_ns: only work of others ran
--   idle_ns: no work of the source ran: the columns that follow but launch_ns, launch_delay_ns and launch_latency_ns add up to it
--   launch_bound_ns: idle, and the thread that launches the next work on the GPU, of whatever process, was about to or launched too late: launch_ns, launch_delay_ns and launch_latency_ns
--   wait_ns: idle, inside an API call that waits for the device, or copies work that is not the next
--   call_ns: idle, inside another CUDA call: memory, modules, streams; or one that launches and takes 100 us or longer, as it loads code first
--   host_ns: idle, outside CUDA for 100 us or longer
--   profiler_ns: idle, the profiler at work on that thread; 0 where a capture does not say on which, as the PyTorch profiler's
--   queued_ns: idle although the launch had returned, which began before the GPU ran dry or 100 us and longer before the work: the device took its time, or waited for an event or another stream
--   unknown_ns: idle before work whose launch was not captured
--   launch_ns: idle, inside an API call that launches work and takes less than 100 us, or launches a graph
--   launch_delay_ns: idle, between two CUDA calls less than 100 us apart, on the way to the next launch
--   launch_latency_ns: idle, after a launch that began when the GPU had run dry, before its work started; shorter than 100 us
--   gap_count: idle gaps
--   is_warmup: whether stages and accounting leave it out
--   start_ns: start of its first device work there, from the start of the source
--   source_id: the source
--   pid: process
--   range_id: the range

WITH d AS (
    SELECT d.stage, d.pass_id, d.device_id, d.span_ns, d.compute_ns + d.collective_overlapped_ns + d.collective_exposed_ns + d.graph_ns + d.copy_ns AS busy_ns,
        d.compute_ns, d.collective_overlapped_ns, d.collective_exposed_ns, d.graph_ns, d.copy_ns, d.other_ns,
        d.launch_ns + d.launch_delay_ns + d.launch_latency_ns AS launch_bound_ns, d.wait_ns, d.call_ns, d.host_ns, d.profiler_ns, d.queued_ns, d.unknown_ns, d.launch_ns, d.launch_delay_ns, d.launch_latency_ns,
        d.gap_count, d.is_warmup, d.start_ns, d.source_id, d.pid, d.range_id
    FROM device_part d
    WHERE d.run_id = run AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND d.range_id IS NOT NULL
        AND (stage IS NULL OR d.stage = stage) AND (device IS NULL OR d.device_id = device)
)
SELECT d.stage, d.pass_id AS pass, d.device_id AS device, d.span_ns, d.busy_ns / nullif(d.span_ns, 0) AS busy_ratio, d.launch_bound_ns / nullif(d.span_ns, 0) AS launch_bound_ratio,
    d.busy_ns, d.compute_ns, d.collective_overlapped_ns, d.collective_exposed_ns, d.graph_ns, d.copy_ns, d.other_ns,
    d.launch_bound_ns + d.wait_ns + d.call_ns + d.host_ns + d.profiler_ns + d.queued_ns + d.unknown_ns AS idle_ns,
    d.launch_bound_ns, d.wait_ns, d.call_ns, d.host_ns, d.profiler_ns, d.queued_ns, d.unknown_ns, d.launch_ns, d.launch_delay_ns, d.launch_latency_ns,
    d.gap_count, d.is_warmup, d.start_ns, d.source_id, d.pid, d.range_id
FROM d
ORDER BY d.source_id, d.start_ns, d.range_id, d.device_id
