-- pass-accounting v3: Where GPU time went in each stage pass, warm-up included: accounting per pass.
-- grain: one outermost range of a stage on one GPU that runs its work
-- key: range_id, device
-- notes: timelines workload accounting launch range
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   stage: the stage, by stage_rule
--   pass: pass number within the stage, source and process, as in passes, from 1
--   device: GPU
--   span_ns: GPU span: first start to last end of its device work on the GPU; busy_ns, other_ns and idle_ns add up to it
--   busy_ratio: busy_ns as a share of the span; NULL when the span is 0
--   launch_bound_ratio: launch_bound_ns as a share of the span; NULL when the span is 0
--   busy_ns: work of the pass ran: the next five columns add up to it
--   compute_ns: kernels other than collectives ran, and no collective
--   collective_overlapped_ns: a collective and another kernel ran
--   collective_exposed_ns: a collective ran, and no other kernel
--   graph_ns: graph replays traced as a whole ran, and no kernel
--   copy_ns: copies and fills ran, and neither kernels nor graph replays
--   other_ns: only work of other ranges ran
--   idle_ns: no work of the source ran: the next seven columns add up to it, launch_bound_ns to unknown_ns
--   launch_bound_ns: idle, and the thread that launches the next work on the GPU, in any process, was launching it or launched it too late: launch_ns + launch_delay_ns +
--     launch_latency_ns
--   wait_ns: idle, in an API call that waits for the GPU, or in a copy that is not the next work
--   call_ns: idle, in another CUDA call (memory, modules, streams), or in a launch of 100 us or longer, which loads code first
--   host_ns: idle, outside CUDA for longer than launches take, 100 us or more
--   profiler_ns: idle, profiler at work on that thread; 0 where the capture does not record on which thread, as with the PyTorch profiler
--   queued_ns: idle although launched: the launch began before the GPU ran dry, or 100 us or longer before the work started; the GPU was slow to start it, or waited for an event or
--     another stream
--   unknown_ns: idle before work whose launch was not captured
--   launch_ns: idle, in an API call that launches work in less than 100 us, or launches a graph
--   launch_delay_ns: idle, between two CUDA calls on the way from one launch to the next
--   launch_latency_ns: idle, after a launch that began when the GPU had run dry, until its work started within 100 us
--   gap_count: idle gaps
--   is_warmup: whether stages and accounting exclude it
--   start_ns: start of its first device work on the GPU, from the start of the source
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
