-- finding_span: The basis of findings: GPU spans of a stage's measured passes on a GPU, with the work in them; for a timeline without
--     measured passes, of all its device work.
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
--   gap_count BIGINT: idle gaps
--   pass_span_ns DOUBLE: span of the median pass
--   pass_busy_ns DOUBLE: work of the pass ran in it
--   pass_kernel_ns DOUBLE: kernels of the pass ran

SELECT
    p.kind,
    p.is_counted,
    p.stage,
    p.device_id,
    count(*) AS pass_count,
    sum(p.end_ns - p.start_ns)::BIGINT AS span_ns,
    sum(p.kernel_ns + p.graph_ns + p.copy_ns)::BIGINT AS busy_ns,
    sum(p.kernel_ns)::BIGINT AS kernel_ns,
    sum(p.graph_ns)::BIGINT AS graph_ns,
    sum(p.copy_ns)::BIGINT AS copy_ns,
    sum(p.other_ns)::BIGINT AS other_ns,
    sum(p.gap_count)::BIGINT AS gap_count,
    median(p.end_ns - p.start_ns) AS pass_span_ns,
    _median_pass(p.kernel_ns + p.graph_ns + p.copy_ns, p.end_ns - p.start_ns, p.range_id) AS pass_busy_ns,
    _median_pass(p.kernel_ns, p.end_ns - p.start_ns, p.range_id) AS pass_kernel_ns
FROM _finding_part p
GROUP BY p.kind, p.is_counted, p.stage, p.device_id
