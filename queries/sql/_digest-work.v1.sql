-- _digest-work v1: Rows of the table work_sum: the device work of the counted timeline by pass, GPU and what it is. Passes are those of the table stage_pass.
-- grain: one kernel name with its grid and block, operation of copies, or all graph replays traced as a whole, of one pass on one GPU
-- key: source_id, range_id, device_id, kind, kernel_name_id, operation, grid_x, grid_y, grid_z, block_x, block_y, block_z
-- params:
--   run VARCHAR: id of the run; a name gives no rows, since looking one up takes longer to plan than the rest
-- columns:
--   run_id: the run
--   source_id: the source
--   range_id: the pass; 0 outside every pass of a stage
--   repeat_id: as in stage_pass
--   device_id: GPU
--   kind: kernel, copy (memop) or graph (a replay traced as a whole)
--   kernel_name_id: name of a kernel; NULL for copies and graphs
--   operation: of a copy or fill; NULL for kernels and graphs
--   grid_x: blocks in x; NULL for copies and graphs, and when the capture does not say
--   grid_y: blocks in y
--   grid_z: blocks in z
--   block_x: threads of a block in x
--   block_y: threads of a block in y
--   block_z: threads of a block in z
--   launch_count: executions
--   sum_ns: sum of their durations
--   min_ns: the shortest
--   max_ns: the longest
--   deviation_ns2: sum of the squares of the differences between durations and their mean, from exact sums

-- Ranges of several threads may enclose one launch, and so may several passes: its own is the one that its path names, else the first.
WITH t AS (
    SELECT t.source_id, coalesce(r.repeat_id, 1) AS repeat_id FROM _timeline_v1(run) t LEFT JOIN _source_repeat_v1(run) r ON r.source_id = t.source_id
), c AS (
    SELECT c.range_context_id, arg_min(p.range_id, (coalesce(s.stage <> p.stage, true), p.start_ns, p.range_id)) AS range_id
    FROM range_context c
    JOIN stage_pass p ON p.run_id = c.run_id AND p.range_id = c.range_id
    LEFT JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id
    WHERE c.run_id = try_cast(run AS UUID)
    GROUP BY c.range_context_id
), work AS (
    SELECT k.source_id, k.range_context_id, k.device_id, 'kernel' AS kind, k.kernel_name_id, NULL::VARCHAR AS operation, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.duration_ns
    FROM kernel k WHERE k.run_id = try_cast(run AS UUID)
    UNION ALL
    SELECT m.source_id, m.range_context_id, m.device_id, 'copy', NULL, m.operation, NULL, NULL, NULL, NULL, NULL, NULL, m.duration_ns
    FROM memop m WHERE m.run_id = try_cast(run AS UUID)
    UNION ALL
    SELECT g.source_id, g.range_context_id, g.device_id, 'graph', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, g.duration_ns
    FROM graph_launch g WHERE g.run_id = try_cast(run AS UUID) AND g.mode = 'graph'
)
SELECT try_cast(run AS UUID) AS run_id, w.source_id, coalesce(c.range_id, 0) AS range_id, t.repeat_id, w.device_id, w.kind, w.kernel_name_id, w.operation, w.grid_x, w.grid_y, w.grid_z, w.block_x, w.block_y, w.block_z,
    count(*) AS launch_count, sum(w.duration_ns)::BIGINT AS sum_ns, min(w.duration_ns) AS min_ns, max(w.duration_ns) AS max_ns,
    (count(*) * sum(w.duration_ns::HUGEINT * w.duration_ns) - sum(w.duration_ns)::HUGEINT * sum(w.duration_ns))::DOUBLE / count(*) AS deviation_ns2
FROM work w
JOIN t ON t.source_id = w.source_id
LEFT JOIN c ON c.range_context_id = w.range_context_id
GROUP BY w.source_id, coalesce(c.range_id, 0), t.repeat_id, w.device_id, w.kind, w.kernel_name_id, w.operation, w.grid_x, w.grid_y, w.grid_z, w.block_x, w.block_y, w.block_z
