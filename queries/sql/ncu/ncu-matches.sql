-- ncu-matches v2: Which timeline kernels the profiled launches stand for, in a run with both Nsight Compute and timeline captures. Times
--     are those of the counted timeline.
-- grain: one profiled kernel, grid, block, stage and matching method
-- key: kernel, grid, block, stage, matched_by
-- notes: match timelines ncu
-- params:
--   run VARCHAR: the run
--   unmatched BOOLEAN = false: only launches without a match
--   {source}
-- columns:
--   kernel: kernel name as Nsight Compute spells it
--   matched_by: matching method: occurrence (every launch was profiled, matched in order), stage (kernel, grid, block and stage) or grid
--     (kernel, grid and block); NULL when not matched
--   launches: profiled launches
--   timeline_calls: timeline executions they stand for
--   timeline_mean_ns: mean duration of these in the timeline
--   replayed_mean_ns: mean duration in the ncu replay, to compare with the timeline
--   reason: why it is not matched: no-timeline, ambiguous-name (timeline kernels whose names differ only in namespaces), no-kernel (of this
--     name), no-grids (the timeline has none), other-stages, other-grids
--   elsewhere: stages, or the first eight grids, in which the timeline has the kernel; NULL for other reasons
--   stage: stage of the profiled launches; NULL outside every stage
--   grid: grid size in blocks, x * y * z
--   block: block size in threads, x * y * z
--   timeline_kernel: kernel name as the timeline spells it

SELECT
    n.name AS kernel,
    g.matched_by,
    g.launches,
    g.timeline_calls,
    g.timeline_mean_ns,
    g.replayed_mean_ns,
    g.reason,
    g.elsewhere,
    g.stage,
    g.grid,
    g.block,
    t.name AS timeline_kernel
FROM (
    SELECT
        l.kernel_name_id,
        m.matched_by,
        count(*) AS launches,
        (CASE m.matched_by WHEN 'occurrence' THEN count(*) ELSE max(m.timeline_calls) END)::BIGINT AS timeline_calls,
        _mean(m.timeline_mean_ns) AS timeline_mean_ns,
        _mean(l.duration_ns) AS replayed_mean_ns,
        m.reason,
        m.elsewhere,
        l.stage,
        l.grid,
        l.block,
        CASE WHEN m.matched_by IS NOT NULL THEN m.timeline_name_id END AS timeline_name_id
    FROM ncu_match m JOIN ncu_measure l ON l.run_id = m.run_id AND l.launch_id = m.launch_id
    WHERE m.run_id = run AND _is_asked(m.kind, m.is_counted, source) AND (NOT "unmatched" OR m.matched_by IS NULL)
    GROUP BY l.kernel_name_id, l.grid, l.block, l.stage, m.matched_by, m.timeline_name_id, m.reason, m.elsewhere
) g
JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = g.kernel_name_id
LEFT JOIN kernel_name t ON t.run_id = run AND t.kernel_name_id = g.timeline_name_id
ORDER BY g.matched_by IS NULL DESC, kernel, g.grid, g.block, g.stage, g.matched_by
