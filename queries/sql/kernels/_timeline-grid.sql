-- _timeline-grid: Kernels of the counted timeline that Nsight Compute profiled too, by name, grid and block.
-- grain: one kernel name, grid and block
-- key: kernel_name_id, grid, block
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kernel_name_id: name as the timeline spells it
--   grid: blocks, x * y * z; NULL when the capture does not say
--   block: threads of a block, x * y * z; NULL likewise
--   calls: executions
--   total_ns: sum of their times

SELECT t.kernel_name_id, t.grid, t.block, sum(t.calls)::BIGINT AS calls, sum(t.total_ns)::BIGINT AS total_ns
FROM ncu_timeline t
WHERE t.run_id = run AND t.kernel_name_id IS NOT NULL AND _is_asked(t.kind, t.is_counted, source) AND (device IS NULL OR t.device_id = device) AND (stage IS NULL OR t.stage = stage)
GROUP BY t.kernel_name_id, t.grid, t.block
