-- _ncu-match: Profiled kernel launches and the kernels of the counted timeline of the same run that they stand for: the same kernel by name (_ncu-name), grid and block, and the same stage where both have one.
-- grain: one profiled kernel launch
-- key: launch_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   launch_id: the profiled launch
--   kernel: name as ncu spells it
--   timeline_name_id: the timeline's name of the kernel; NULL when it has none
--   grid: blocks, x * y * z
--   block: threads of a block, x * y * z
--   stage: stage of the profiled launch; NULL when none
--   matched_by: occurrence (every launch was profiled, this one is the n-th), stage (kernel, grid, block and stage), grid (kernel, grid and block), or NULL when not matched
--   timeline_kernel: name as the timeline spells it
--   timeline_calls: executions in the timeline it stands for
--   timeline_mean_ns: their mean time; of a match by occurrence that execution's own time
--   reason: why it is not matched

SELECT m.launch_id, l.kernel, m.timeline_name_id, l.grid, l.block, l.stage, m.matched_by, m.timeline_kernel, m.timeline_calls, m.timeline_mean_ns, m.reason
FROM ncu_match m JOIN ncu_measure l ON l.run_id = m.run_id AND l.launch_id = m.launch_id
WHERE m.run_id = run AND _is_asked(m.kind, m.is_counted, source)
