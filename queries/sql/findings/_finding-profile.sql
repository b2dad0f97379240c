-- _finding-profile: Kernels of the passes that findings are about with what Nsight Compute measured of them, where it profiled the same grid and block.
-- grain: one stage, GPU, kernel, grid and block
-- key: stage, device, kernel, grid, block
-- params:
--   run VARCHAR: the run
--   work VARCHAR = NULL: name of a relation that holds _finding-work of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage; NULL of a run without measured passes
--   device: GPU
--   kernel: name as ncu spells it
--   grid: blocks, x * y * z
--   block: threads of a block, x * y * z
--   bound: latency, memory, compute or unknown, as in bottlenecks
--   limiter: what it leans on, as in bottlenecks
--   roof_ratio: the higher of compute and memory throughput of their peaks
--   occupancy_ratio: achieved occupancy, or what the launch allows where that is lower or alone known
--   calls: executions in the timeline
--   total_ns: sum of their times there
--   device_ns: the same as in _finding-work

WITH w AS (
    SELECT w.stage, w.device, w.kernel_name_id, w.grid, w.block, sum(w.calls)::BIGINT AS calls, sum(w.total_ns)::BIGINT AS total_ns, sum(w.device_ns) AS device_ns
    FROM query(_given(work, '_finding_work', run, source)) w GROUP BY ALL
)
SELECT w.stage, w.device, c.kernel, c.grid, c.block, c.bound, c.limiter, c.roof_ratio, least(c.occupancy_ratio, c.theoretical_occupancy_ratio) AS occupancy_ratio, w.calls, w.total_ns, w.device_ns
FROM _ncu_class(run, source := source) c JOIN w ON w.kernel_name_id = c.timeline_name_id AND w.grid = c.grid AND w.block = c.block
LEFT JOIN kernel_class k ON k.run_id = run AND k.kernel_name_id = w.kernel_name_id
WHERE k.role IS DISTINCT FROM 'collective'
