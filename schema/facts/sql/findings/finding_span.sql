-- finding_span: The basis of findings: GPU spans of a stage's measured passes on a GPU, in their parts; for a timeline without measured passes, of all its device work.
-- grain: one stage on one GPU, per timeline kind
-- key: kind, stage, device_id
-- needs: device_time
-- columns:
--   kind VARCHAR: {timelines}
--   is_counted BOOLEAN: as in timeline
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   pass_count BIGINT: measured passes with work on the GPU; for all device work, sources
--   span_ns BIGINT: sum of the spans of these passes
--   busy_ns BIGINT: work of the passes ran
--   kernel_ns BIGINT: as in device_time, like all columns below; summed over passes
--   graph_ns BIGINT: graph replays
--   copy_ns BIGINT: copies and fills
--   other_ns BIGINT: only other work ran
--   launch_ns BIGINT: idle, in launching calls
--   launch_delay_ns BIGINT: idle, between CUDA calls on the way to the next launch
--   launch_latency_ns BIGINT: idle, after a launch that began when the GPU had run dry, before its work started
--   wait_ns BIGINT: idle, CPU waits for the GPU
--   call_ns BIGINT: idle, in another CUDA call or a longer launch
--   host_ns BIGINT: idle, outside CUDA
--   profiler_ns BIGINT: idle, profiler at work
--   queued_ns BIGINT: idle although launched
--   unknown_ns BIGINT: idle before work whose launch was not captured
--   gap_count BIGINT: idle gaps
--   named_host_ns BIGINT: what of host_ns gc-pauses and code-loading are about, by the longest gaps, and cpu-starved
--   named_delay_ns BIGINT: what of launch_delay_ns they are about
--   named_call_ns BIGINT: what of call_ns code-loading, allocator-calls and cpu-starved are about
--   named_wait_ns BIGINT: what of wait_ns cpu-starved is about
--   launch_max_ns BIGINT: launch_ns + launch_delay_ns + launch_latency_ns, less named_delay_ns, of the pass with the most
--   launch_median_ns DOUBLE: median of the same over the passes
--   wait_max_ns BIGINT: wait_ns less named_wait_ns of the pass with the most
--   wait_median_ns DOUBLE: median of the same over the passes
--   call_max_ns BIGINT: call_ns less named_call_ns of the pass with the most
--   call_median_ns DOUBLE: median of the same over the passes
--   host_max_ns BIGINT: host_ns less named_host_ns of the pass with the most
--   host_median_ns DOUBLE: median of the same over the passes
--   queued_max_ns BIGINT: queued_ns of the pass with the most
--   queued_median_ns DOUBLE: median of the same over the passes

SELECT p.kind, p.is_counted, p.stage, p.device_id, count(*) AS pass_count, sum(p.end_ns - p.start_ns)::BIGINT AS span_ns, sum(p.kernel_ns + p.graph_ns + p.copy_ns)::BIGINT AS busy_ns,
    sum(p.kernel_ns)::BIGINT AS kernel_ns, sum(p.graph_ns)::BIGINT AS graph_ns, sum(p.copy_ns)::BIGINT AS copy_ns, sum(p.other_ns)::BIGINT AS other_ns,
    sum(p.launch_ns)::BIGINT AS launch_ns, sum(p.launch_delay_ns)::BIGINT AS launch_delay_ns, sum(p.launch_latency_ns)::BIGINT AS launch_latency_ns, sum(p.wait_ns)::BIGINT AS wait_ns, sum(p.call_ns)::BIGINT AS call_ns, sum(p.host_ns)::BIGINT AS host_ns,
    sum(p.profiler_ns)::BIGINT AS profiler_ns, sum(p.queued_ns)::BIGINT AS queued_ns, sum(p.unknown_ns)::BIGINT AS unknown_ns, sum(p.gap_count)::BIGINT AS gap_count,
    sum(p.named_host_ns)::BIGINT AS named_host_ns, sum(p.named_delay_ns)::BIGINT AS named_delay_ns, sum(p.allocate_ns + p.load_ns + p.starved_call_ns)::BIGINT AS named_call_ns, sum(p.starved_wait_ns)::BIGINT AS named_wait_ns,
    max(p.launch_ns + p.launch_delay_ns + p.launch_latency_ns - p.named_delay_ns) AS launch_max_ns, median(p.launch_ns + p.launch_delay_ns + p.launch_latency_ns - p.named_delay_ns) AS launch_median_ns, max(p.wait_ns - p.starved_wait_ns) AS wait_max_ns, median(p.wait_ns - p.starved_wait_ns) AS wait_median_ns,
    max(p.call_ns - p.allocate_ns - p.load_ns - p.starved_call_ns) AS call_max_ns, median(p.call_ns - p.allocate_ns - p.load_ns - p.starved_call_ns) AS call_median_ns, max(p.host_ns - p.named_host_ns) AS host_max_ns, median(p.host_ns - p.named_host_ns) AS host_median_ns,
    max(p.queued_ns) AS queued_max_ns, median(p.queued_ns) AS queued_median_ns
FROM _finding_part p
GROUP BY p.kind, p.is_counted, p.stage, p.device_id
