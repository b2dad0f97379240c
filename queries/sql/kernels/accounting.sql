-- accounting v3: Where GPU time went, by stage, kind of work and cause of idle time: disjoint parts that add up to the GPU span (first start to last end of device work).
-- grain: one part of one stage on one GPU
-- key: stage, device, part
-- notes: pass throttle timelines accounting launch stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (run) for the whole capture
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   stage: the stage, by stage_rule, warm-up passes excluded; (run) for all work of the capture on the GPU
--   device: GPU
--   part: where the time went. Work of the stage: compute (kernels), collective-overlapped (other kernels ran too), collective-exposed (no other kernel ran), graph (replays traced
--     as a whole), copy (copies and fills while no kernel ran). other: only other work ran. Idle time is classified by what the thread that launches the next work on the GPU did, in
--     any process or stage: launch (in a launching call of less than 100 us, or launching a graph), launch-delay (between two CUDA calls on the way from one launch to the next),
--     launch-latency (launched after the GPU ran dry; its work starts within 100 us), wait (in a call that waits for the GPU, or in a copy that is not the next work), call
--     (in another CUDA call, or in a launch of 100 us or longer, which loads code first), host (outside CUDA for 100 us or longer, and for longer than five times what a launch
--     usually takes), profiler (profiler at work on the thread; the PyTorch profiler does not record on which, so it has none), queued (launched before the GPU ran dry, or 100 us or
--     longer before the work started), unknown (launch not captured). Queries of events and streams count as time outside CUDA
--   kind: busy, other, launch-bound (launch, launch-delay, launch-latency), wait, call, host, profiler, queued or unknown
--   total_ns: time of the part, summed over passes; empty parts have no row
--   share_ratio: total_ns as a share of span_total_ns
--   mean_ns: mean over the passes; for (run), over its sources
--   passes: passes with work on the GPU; for (run), sources
--   span_total_ns: sum of the GPU spans of the passes: the parts add up to it
--   std_ns: sample standard deviation (n-1) of the part over the passes; NULL for a single one
--   min_ns: least in one pass
--   max_ns: most in one pass

WITH d AS (
    SELECT d.stage, d.device_id AS device, d.span_ns, unnest([
        {'place': 1, 'part': 'compute', 'kind': 'busy', 'ns': d.compute_ns}, {'place': 2, 'part': 'collective-overlapped', 'kind': 'busy', 'ns': d.collective_overlapped_ns},
        {'place': 3, 'part': 'collective-exposed', 'kind': 'busy', 'ns': d.collective_exposed_ns}, {'place': 4, 'part': 'graph', 'kind': 'busy', 'ns': d.graph_ns},
        {'place': 5, 'part': 'copy', 'kind': 'busy', 'ns': d.copy_ns}, {'place': 6, 'part': 'other', 'kind': 'other', 'ns': d.other_ns},
        {'place': 7, 'part': 'launch', 'kind': 'launch-bound', 'ns': d.launch_ns}, {'place': 8, 'part': 'launch-delay', 'kind': 'launch-bound', 'ns': d.launch_delay_ns},
        {'place': 9, 'part': 'launch-latency', 'kind': 'launch-bound', 'ns': d.launch_latency_ns}, {'place': 10, 'part': 'wait', 'kind': 'wait', 'ns': d.wait_ns},
        {'place': 11, 'part': 'call', 'kind': 'call', 'ns': d.call_ns}, {'place': 12, 'part': 'host', 'kind': 'host', 'ns': d.host_ns},
        {'place': 13, 'part': 'profiler', 'kind': 'profiler', 'ns': d.profiler_ns}, {'place': 14, 'part': 'queued', 'kind': 'queued', 'ns': d.queued_ns},
        {'place': 15, 'part': 'unknown', 'kind': 'unknown', 'ns': d.unknown_ns}]) AS p
    FROM device_part d
    WHERE d.run_id = run AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND NOT d.is_warmup
        AND (stage IS NULL OR d.stage = stage) AND (device IS NULL OR d.device_id = device)
), s AS (
    SELECT d.stage, d.device, d.p.place, d.p.part, d.p.kind, sum(d.p.ns)::BIGINT AS total_ns, avg(d.p.ns) AS mean_ns, count(*) AS passes, sum(d.span_ns)::BIGINT AS span_total_ns,
        _std(d.p.ns) AS std_ns, min(d.p.ns) AS min_ns, max(d.p.ns) AS max_ns
    FROM d GROUP BY d.stage, d.device, d.p.place, d.p.part, d.p.kind
)
SELECT s.stage, s.device, s.part, s.kind, s.total_ns, s.total_ns / s.span_total_ns AS share_ratio, s.mean_ns, s.passes, s.span_total_ns, s.std_ns, s.min_ns, s.max_ns
FROM s
WHERE s.total_ns > 0
ORDER BY array_position(['(run)', 'prefill', 'decode'], s.stage) NULLS LAST, s.stage, s.device, s.place
