-- _long-gap: The single idle gaps that rankings are of, and whether each is left out.
-- grain: one row of gap
-- key: source_id, device_id, start_ns
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only gaps before work of this stage; (none) for gaps before work outside every stage or without a captured launch
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: leave nothing out
--   {source}
-- columns:
--   stage: stage of the work after; (none) outside every stage, or when its launch was not captured
--   place: where it lies, as _gap-place has it
--   scope: part of the run, as _gap-scope has it
--   is_left: whether rankings leave it out
--   source_id: as in gap, like all columns below
--   device_id: GPU
--   start_ns: end of the work before
--   duration_ns: to the start of the work after
--   part: the largest of its parts
--   pid: process of the work after
--   tid: thread that launched it
--   path_id: path of the ranges of the launch
--   before_kernel_name_id: kernel before
--   before_operation: other work before
--   after_kernel_name_id: kernel after
--   after_operation: other work after

SELECT
    coalesce(s.stage, '(none)') AS stage,
    _gap_place(s.stage, g.opening_mask >> (r.depth - 1) & 1 = 1, f.range_id IS NOT NULL) AS place,
    _gap_scope(b.source_id IS NOT NULL, c.is_warmup, place) AS scope,
    NOT _counts(scope, stage, warmup) AS is_left,
    g.source_id,
    g.device_id,
    g.start_ns,
    g.duration_ns,
    g.part,
    g.pid,
    g.tid,
    g.path_id,
    g.before_kernel_name_id,
    g.before_operation,
    g.after_kernel_name_id,
    g.after_operation
FROM gap g
LEFT JOIN path_stage s ON s.run_id = g.run_id AND s.path_id = g.path_id
LEFT JOIN range_path r ON r.run_id = g.run_id AND r.path_id = s.stage_path_id
LEFT JOIN measured_source b ON b.run_id = g.run_id AND b.source_id = g.source_id
LEFT JOIN pass_context c ON c.run_id = g.run_id AND c.range_context_id = g.range_context_id
LEFT JOIN _following_pass(run) f ON f.range_id = c.range_id
WHERE g.run_id = run
    AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND (device IS NULL OR g.device_id = device)
    AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
