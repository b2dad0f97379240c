-- ncu_timeline: Timeline kernels of runs with profiled kernels, summed: kernels of a profiled name by grid and block, all others together.
-- grain: one timeline kind, GPU, stage, part of the run, profiled kernel name, grid and block
-- key: kind, device_id, stage, scope, kernel_name_id, grid, block
-- needs: ncu_launch kernel|reported_sum
-- columns:
--   kind VARCHAR: timeline kind: {timelines}
--   is_counted BOOLEAN: whether it is the counted kind
--   device_id INTEGER: GPU; NULL in reported sums
--   stage VARCHAR: stage of the launch; (none) outside every stage
--   scope VARCHAR: part of the run, as in kernel_duration
--   kernel_name_id BIGINT: kernel name as the timeline spells it; NULL for all kernels without a profiled name
--   grid VARCHAR: grid size in blocks, x * y * z; NULL for these, and when the capture has none
--   block VARCHAR: block size in threads, x * y * z; NULL when the capture has none
--   calls BIGINT: executions
--   total_ns BIGINT: sum of their times

-- Shapes before stages and texts: there are few.
WITH shape AS (
    SELECT
        k.source_id,
        k.device_id,
        k.path_id,
        k.scope,
        k.kernel_name_id,
        k.grid_x,
        k.grid_y,
        k.grid_z,
        k.block_x,
        k.block_y,
        k.block_z,
        sum(k.launch_count)::BIGINT AS calls,
        sum(k.launch_count * k.duration_ns)::BIGINT AS total_ns
    FROM kernel_duration k
    WHERE k.run_id = $run
    GROUP BY k.source_id, k.device_id, k.path_id, k.scope, k.kernel_name_id, k.grid_x, k.grid_y, k.grid_z, k.block_x,
        k.block_y, k.block_z
    UNION ALL
    SELECT
        r.source_id,
        NULL,
        NULL,
        'measured',
        r.kernel_name_id,
        r.grid_x,
        r.grid_y,
        r.grid_z,
        r.block_x,
        r.block_y,
        r.block_z,
        r.item_count,
        r.total_ns
    FROM _reported_grid r
), named AS (
    SELECT DISTINCT n.kind, n.timeline_name_id
    FROM _ncu_named n
    WHERE n.timeline_name_id IS NOT NULL
)
SELECT
    t.kind,
    t.is_counted,
    s.device_id,
    coalesce(p.stage, '(none)') AS stage,
    s.scope,
    n.timeline_name_id AS kernel_name_id,
    CASE WHEN n.timeline_name_id IS NOT NULL THEN _dims(s.grid_x, s.grid_y, s.grid_z) END AS grid,
    CASE WHEN n.timeline_name_id IS NOT NULL THEN _dims(s.block_x, s.block_y, s.block_z) END AS block,
    sum(s.calls)::BIGINT AS calls,
    sum(s.total_ns)::BIGINT AS total_ns
FROM shape s
JOIN timeline t ON t.run_id = $run AND t.source_id = s.source_id
LEFT JOIN path_stage p ON p.run_id = $run AND p.path_id = s.path_id
LEFT JOIN named n ON n.kind = t.kind AND n.timeline_name_id = s.kernel_name_id
GROUP BY ALL
