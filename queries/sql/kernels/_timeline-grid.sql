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

WITH wanted AS (
    SELECT DISTINCT n.timeline_name_id AS kernel_name_id FROM _ncu_name(run, source := source) n WHERE n.timeline_name_id IS NOT NULL
)
SELECT k.kernel_name_id, _dims(k.grid_x, k.grid_y, k.grid_z) AS grid, _dims(k.block_x, k.block_y, k.block_z) AS block,
    count(*) AS calls, sum(k.duration_ns)::BIGINT AS total_ns
FROM kernel k
JOIN wanted w ON w.kernel_name_id = k.kernel_name_id
LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
WHERE k.run_id = run AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND (device IS NULL OR k.device_id = device) AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
GROUP BY k.kernel_name_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z
