-- steps v1: Steps (iterations of decode, of training, forward passes of a serving engine) in the order of time: ranges whose names say step or iteration, else what recurs on the GPU.
-- grain: one step on one GPU
-- key: source_id, pid, device, stage, nth
-- notes: step timelines launch range
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: rows at most; 0 for all
--   stage VARCHAR = NULL: only this stage; (none) for steps outside every stage
--   device BIGINT = NULL: only work on this GPU, and only steps that have some
--   by VARCHAR = NULL: launch (the work that a step's thread launched in it) or time (what ran in the step's time, other threads' work too: of steps outside of stages); by default time for ProfilerStep# and for other ranges of one thread in which other threads launch work
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   nth: 1, 2, ... within the stage, source, process and GPU, warm-up included
--   stage: stage, by stage_rule; (none) outside of stages
--   time_ns: its time, by time_basis; NULL for the last step of a pass where that is gpu_period
--   busy_ns: union of the intervals of its device work, which may end after the next step began; NULL when not known
--   idle_ns: idle between its first and last device work; of steps that overlap (gpu_span_ns > period_ns) in both; NULL when not known
--   launch_bound_ns: of that, inside launching calls (of graphs, or of less than 100 us) or on the way to them; NULL when not known, as the other parts: by time where a GPU has more than 10,000 gaps
--   wait_ns: of that, while the thread waited for the device
--   host_ns: of that, while the thread was outside CUDA for 100 us or longer
--   kernel_count: kernels; NULL when not known, as where graphs were traced as a whole
--   token_count: tokens decoded, all sequences together; NULL when not known
--   token_time_ns: time per output token of a sequence: time_ns x sequences / tokens; NULL when not known
--   is_warmup: whether a warm-up rule matches, the workload says so, or it, its pass or one inside it was found cold
--   name: normalised name of the range; with the basis period the kernel that begins each step, or graph replay
--   device: GPU; NULL for a step without device work
--   time_basis: what time_ns is: gpu_period where steps follow each other, else gpu_span, or cpu without device work
--   period_ns: start of its first device work to that of the next step in the same pass; NULL for the last
--   cpu_ns: time of the range on its thread; NULL with the basis period
--   gpu_span_ns: first start to last end of its device work; NULL when not known
--   between_ns: from its last device work to the first of the next step; NULL for the last
--   call_ns: idle inside another CUDA call, or a launching one of 100 us or longer
--   queued_ns: idle although the next launch had returned
--   profiler_ns: idle while the profiler worked on that thread; 0 where a capture does not say on which, as the PyTorch profiler's
--   unknown_ns: idle before work whose launch was not captured
--   other_ns: only work of others ran
--   memop_count: copies and fills
--   graph_count: graph replays whose kernels were not traced
--   start_ns: start of its first device work, from the start of the source; of the range where it has none
--   basis: how steps were found: range or period
--   source_id: the source
--   pid: process
--   range_id: the range; NULL with the basis period

SELECT s.nth, s.stage, s.time_ns, s.busy_ns, s.idle_ns, s.launch_bound_ns, s.wait_ns, s.host_ns, CASE WHEN s.graph_count = 0 THEN s.kernel_count END AS kernel_count, s.token_count, s.time_ns::DOUBLE * s.decode_count / nullif(s.token_count, 0) AS token_time_ns, s.is_warmup, s.name,
    s.device_id AS device, s.time_basis, s.period_ns, s.cpu_ns, s.gpu_span_ns, s.between_ns, s.call_ns, s.queued_ns, s.profiler_ns, s.unknown_ns, s.other_ns, s.memop_count, s.graph_count,
    s.start_ns, s.basis, s.source_id, s.pid, s.range_id
FROM step s
WHERE s.run_id = run AND s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND (device IS NULL OR s.device_id = device) AND (stage IS NULL OR s.stage = stage) AND _is_by("by", s.attribution, s.is_default)
ORDER BY s.source_id, s.start_ns, s.device_id, s.pid, s.range_id, s.stage
LIMIT CASE WHEN top = 0 THEN 9223372036854775807 ELSE top END
