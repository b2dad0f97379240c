-- work_sum: Device work per stage pass, and per source outside all passes, by kernel, copy operation and graph replay; pass_context assigns
--     work to passes.
-- grain: one pass on one GPU and kernel name with grid and block, copy operation, or all graph replays traced as a whole
-- key: source_id, range_id, device_id, kind, kernel_name_id, operation, grid_x, grid_y, grid_z, block_x, block_y, block_z
-- needs: kernel|memop|graph_launch|reported_sum
-- columns:
--   source_id INTEGER: the source
--   is_counted BOOLEAN: whether its source is of the counted kind
--   range_id BIGINT: the pass; 0 outside every stage pass
--   repeat_id BIGINT: as in stage_pass
--   device_id INTEGER: GPU; NULL in reported sums
--   kind VARCHAR: kernel, copy (memop) or graph (a replay traced as a whole)
--   kernel_name_id BIGINT: kernel name; NULL for copies and graphs
--   operation VARCHAR: operation of a copy or fill; NULL for kernels and graphs
--   grid_x INTEGER: grid size in x, in blocks; NULL for copies and graphs, and when the capture has none
--   grid_y INTEGER: grid size in y, in blocks
--   grid_z INTEGER: grid size in z, in blocks
--   block_x INTEGER: block size in x, in threads
--   block_y INTEGER: block size in y, in threads
--   block_z INTEGER: block size in z, in threads
--   launch_count BIGINT: executions
--   sum_ns BIGINT: sum of their durations
--   min_ns BIGINT: shortest
--   max_ns BIGINT: longest
--   deviation_ns2 DOUBLE: sum of squared deviations of the durations from their mean, from exact sums; from the reported standard deviation
--     for reported sums, NULL without it

WITH t AS (
    SELECT
        t.source_id,
        t.is_counted,
        coalesce(r.repeat_id, 1) AS repeat_id
    FROM timeline t LEFT JOIN _source_repeat r ON r.source_id = t.source_id
    WHERE t.run_id = $run
), work AS (
    SELECT
        k.source_id,
        k.range_context_id,
        k.device_id,
        'kernel' AS kind,
        k.kernel_name_id,
        NULL::VARCHAR AS operation,
        k.grid_x,
        k.grid_y,
        k.grid_z,
        k.block_x,
        k.block_y,
        k.block_z,
        k.launch_count,
        k.sum_ns,
        k.min_ns,
        k.max_ns,
        k.sum_ns2
    FROM _kernel_sum k
    UNION ALL
    SELECT
        m.source_id,
        m.range_context_id,
        m.device_id,
        'copy',
        NULL,
        m.operation,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        1,
        m.duration_ns,
        m.duration_ns,
        m.duration_ns,
        m.duration_ns::HUGEINT * m.duration_ns
    FROM memop m
    WHERE m.run_id = $run
    UNION ALL
    SELECT
        g.source_id,
        g.range_context_id,
        g.device_id,
        'graph',
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        1,
        g.duration_ns,
        g.duration_ns,
        g.duration_ns,
        g.duration_ns::HUGEINT * g.duration_ns
    FROM graph_launch g
    WHERE g.run_id = $run AND g.mode = 'graph'
), reported AS (
    SELECT
        r.source_id,
        'kernel' AS kind,
        r.kernel_name_id,
        NULL::VARCHAR AS operation,
        r.grid_x,
        r.grid_y,
        r.grid_z,
        r.block_x,
        r.block_y,
        r.block_z,
        r.item_count,
        r.total_ns,
        r.min_ns,
        r.max_ns,
        r.std_ns
    FROM _reported_grid r
    UNION ALL
    SELECT
        r.source_id,
        'copy',
        NULL,
        r.name,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        r.item_count,
        r.total_ns,
        r.min_ns,
        r.max_ns,
        r.std_ns
    FROM reported_sum r
    WHERE r.run_id = $run AND r.report = 'memory_time'
)
SELECT
    w.source_id,
    t.is_counted,
    coalesce(c.range_id, 0) AS range_id,
    t.repeat_id,
    w.device_id,
    w.kind,
    w.kernel_name_id,
    w.operation,
    w.grid_x,
    w.grid_y,
    w.grid_z,
    w.block_x,
    w.block_y,
    w.block_z,
    sum(w.launch_count)::BIGINT AS launch_count,
    sum(w.sum_ns)::BIGINT AS sum_ns,
    min(w.min_ns) AS min_ns,
    max(w.max_ns) AS max_ns,
    (sum(w.launch_count) * sum(w.sum_ns2) - sum(w.sum_ns) * sum(w.sum_ns))::DOUBLE
        / sum(w.launch_count) AS deviation_ns2
FROM work w
JOIN t ON t.source_id = w.source_id
LEFT JOIN pass_context c ON c.run_id = $run AND c.range_context_id = w.range_context_id
GROUP BY w.source_id, t.is_counted, coalesce(c.range_id, 0), t.repeat_id, w.device_id, w.kind, w.kernel_name_id,
    w.operation, w.grid_x, w.grid_y, w.grid_z, w.block_x, w.block_y, w.block_z
UNION ALL -- each row is a sum already
SELECT
    r.source_id,
    t.is_counted,
    0,
    t.repeat_id,
    NULL,
    r.kind,
    r.kernel_name_id,
    r.operation,
    r.grid_x,
    r.grid_y,
    r.grid_z,
    r.block_x,
    r.block_y,
    r.block_z,
    r.item_count,
    r.total_ns,
    r.min_ns,
    r.max_ns,
    CASE WHEN r.item_count = 1 THEN 0 ELSE r.std_ns * r.std_ns * (r.item_count - 1) END
FROM reported r JOIN t ON t.source_id = r.source_id
WHERE r.total_ns IS NOT NULL
