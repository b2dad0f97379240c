-- _device-part: The time of each GPU in each pass of a stage and in the whole of each source, in parts that add up to it, with kernels' time by what they do.
-- grain: one pass on one GPU that it has work on, and one source on one GPU
-- key: range_id, source_id, device
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage; (run) for the whole of the source
--   pass: 1, 2, ... within the stage, source and process, as in passes; NULL for (run)
--   range_id: the range of the pass; NULL for (run)
--   source_id: the source
--   pid: process of the pass; NULL for (run)
--   is_warmup: whether stages leaves the pass out
--   device: GPU
--   start_ns: start of its first device work, from the start of the source
--   span_ns: first start to last end of its device work: the sum of the parts
--   compute_ns: kernels of its own ran, and no collective of its own
--   collective_overlapped_ns: a collective of its own ran, and another kernel of its own too
--   collective_exposed_ns: a collective of its own ran, and no other kernel of its own
--   graph_ns: as in device_time, as are all below
--   copy_ns: copies and fills
--   other_ns: only work of others ran
--   launch_ns: idle, inside a launch of less than 100 us, or of a graph
--   late_ns: idle, on the way to the next launch
--   wait_ns: idle, synchronising
--   call_ns: idle, inside another CUDA call, or a longer launch
--   host_ns: idle, outside CUDA
--   profiler_ns: idle, the profiler at work on that thread, where a capture says on which
--   queued_ns: idle although launched
--   unknown_ns: idle, launch not captured
--   gap_count: idle gaps

WITH place AS (
    SELECT s.stage, row_number() OVER (PARTITION BY s.stage, s.source_id, s.pid ORDER BY s.start_ns, s.range_id) AS pass, s.range_id, s.source_id, s.pid, s.is_warmup
    FROM _stage_pass(run, source := source) s
    UNION ALL
    SELECT '(run)', NULL, NULL, t.source_id, NULL, false FROM _timeline(run, source := source) t
)
SELECT p.stage, p.pass, p.range_id, p.source_id, p.pid, p.is_warmup, d.device_id AS device, d.start_ns, d.end_ns - d.start_ns AS span_ns,
    d.kernel_ns - coalesce(c.collective_ns, 0) AS compute_ns, coalesce(c.overlapped_ns, 0) AS collective_overlapped_ns, coalesce(c.exposed_ns, 0) AS collective_exposed_ns,
    d.graph_ns, d.copy_ns, d.other_ns, d.launch_ns, d.late_ns, d.wait_ns, d.call_ns, d.host_ns, d.profiler_ns, d.queued_ns, d.unknown_ns, d.gap_count
FROM place p
JOIN device_time d ON d.run_id = run AND d.source_id = p.source_id AND d.range_id IS NOT DISTINCT FROM p.range_id
LEFT JOIN _collective_time(run, source := source) c ON c.source_id = d.source_id AND c.device_id = d.device_id AND c.range_id IS NOT DISTINCT FROM d.range_id
