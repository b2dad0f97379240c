-- ncu-matches v2: Which kernels of the timeline the profiled launches stand for, in one run with captures of Nsight Compute and of Nsight Systems or the PyTorch profiler. Times are those of the counted timeline.
-- grain: one profiled kernel, grid, block, stage and way of matching
-- key: kernel, grid, block, stage, matched_by
-- notes: match timelines ncu
-- params:
--   run VARCHAR: the run
--   unmatched BOOLEAN = false: only what is not matched
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kernel: name as ncu spells it
--   matched_by: occurrence (every launch was profiled, they pair off in order), stage (kernel, grid, block and stage), grid (kernel, grid and block); NULL when not matched
--   launches: profiled launches
--   timeline_calls: executions in the timeline that they stand for
--   timeline_mean_ns: mean time of these in the timeline
--   replayed_mean_ns: mean time under Nsight Compute, to see how far its replay is from the timeline
--   reason: why it is not matched: no-timeline, ambiguous-name (kernels of the timeline whose names differ in namespaces alone), no-kernel (of this name), no-grids (the timeline has none), other-stages, other-grids
--   elsewhere: the stages, or the first eight grids, that the timeline has it in; NULL for other reasons
--   stage: stage of the profiled launches; NULL when none
--   grid: blocks, x * y * z
--   block: threads of a block, x * y * z
--   timeline_kernel: name as the timeline spells it

SELECT l.kernel, m.matched_by, count(*) AS launches, (CASE m.matched_by WHEN 'occurrence' THEN count(*) ELSE max(m.timeline_calls) END)::BIGINT AS timeline_calls,
    _mean(m.timeline_mean_ns) AS timeline_mean_ns, _mean(l.duration_ns) AS replayed_mean_ns, m.reason, m.elsewhere, l.stage, l.grid, l.block, m.timeline_kernel
FROM ncu_match m JOIN ncu_measure l ON l.run_id = m.run_id AND l.launch_id = m.launch_id
WHERE m.run_id = run AND _is_asked(m.kind, m.is_counted, source) AND (NOT "unmatched" OR m.matched_by IS NULL)
GROUP BY l.kernel, l.grid, l.block, l.stage, m.matched_by, m.timeline_kernel, m.reason, m.elsewhere
ORDER BY m.matched_by IS NULL DESC, l.kernel, l.grid, l.block, l.stage, m.matched_by
