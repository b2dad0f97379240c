-- _finding_profile: Kernels of the passes that findings are about with what Nsight Compute measured of them, where it profiled the same
--     grid and block.
-- grain: one stage, GPU, kernel, grid and block, of one kind of timeline
-- key: kind, stage, device_id, kernel_name_id, grid, block
-- needs: device_time kernel ncu_launch
-- columns:
--   kind VARCHAR: {timelines}
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   kernel_name_id BIGINT: kernel name as Nsight Compute spells it
--   timeline_name_id BIGINT: kernel name as the timeline spells it
--   grid VARCHAR: grid size in blocks, x * y * z
--   block VARCHAR: block size in threads, x * y * z
--   bound VARCHAR: latency, memory, compute or unknown, as in bottlenecks
--   limiter VARCHAR: the unit or resource that limits it, as in bottlenecks
--   roof_ratio DOUBLE: the higher of compute and memory throughput of their peaks
--   occupancy_ratio DOUBLE: achieved occupancy, or what the launch allows where that is lower or alone known
--   launch_count BIGINT: executions in the timeline
--   sum_ns BIGINT: sum of their times there
--   own_ns DOUBLE: the same as in _finding_work

WITH w AS (
    SELECT
        w.kind,
        w.stage,
        w.device_id,
        w.kernel_name_id,
        w.grid,
        w.block,
        sum(w.launch_count)::BIGINT AS launch_count,
        sum(w.sum_ns)::BIGINT AS sum_ns,
        sum(w.own_ns) AS own_ns
    FROM _finding_work w
    WHERE w.role IS DISTINCT FROM 'collective'
    GROUP BY ALL
), c AS (
    SELECT
        'nsys' AS kind,
        n.kernel_name_id,
        n.timeline_name_id,
        n.grid,
        n.block,
        n.bound,
        n.limiter,
        n.roof_ratio,
        n.occupancy_ratio,
        n.theoretical_occupancy_ratio
    FROM _ncu_class($run, source := 'nsys') n
    WHERE EXISTS (SELECT 1 FROM ncu_shape)
    UNION ALL
    SELECT
        'prof',
        n.kernel_name_id,
        n.timeline_name_id,
        n.grid,
        n.block,
        n.bound,
        n.limiter,
        n.roof_ratio,
        n.occupancy_ratio,
        n.theoretical_occupancy_ratio
    FROM _ncu_class($run, source := 'prof') n
    UNION ALL
    SELECT
        'torch',
        n.kernel_name_id,
        n.timeline_name_id,
        n.grid,
        n.block,
        n.bound,
        n.limiter,
        n.roof_ratio,
        n.occupancy_ratio,
        n.theoretical_occupancy_ratio
    FROM _ncu_class($run, source := 'torch') n
)
SELECT
    w.kind,
    w.stage,
    w.device_id,
    c.kernel_name_id,
    c.timeline_name_id,
    c.grid,
    c.block,
    c.bound,
    c.limiter,
    c.roof_ratio,
    least(c.occupancy_ratio, c.theoretical_occupancy_ratio) AS occupancy_ratio,
    w.launch_count,
    w.sum_ns,
    w.own_ns
FROM c
JOIN w ON w.kind = c.kind AND w.kernel_name_id = c.timeline_name_id AND w.grid = c.grid AND w.block = c.block
