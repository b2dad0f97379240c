-- step-work v1: Device work per step of a run without stages, and outside all steps: what comparisons of such runs use. The rows add up to all device work of the counted capture.
-- grain: one step on one GPU and kernel name with grid and block, copy operation, or all graph replays
-- key: source_id, pid, device, nth, kind, kernel, grid, block
-- notes: graph launch
-- params:
--   run VARCHAR: the run
-- columns:
--   nth: step number, as in steps; NULL outside steps
--   source_id: the source
--   pid: process; NULL when its launches were not captured
--   device: GPU
--   is_warmup: whether step-times excludes the step
--   kind: kernel, copy (fills included) or graph
--   kernel: full kernel name, copy operation, or graph replay
--   family: kernel family by kernel_rule; NULL when no rule matches, and for other work
--   role: what kernels of the family do; NULL when no rule matches
--   grid: grid size in blocks, x * y * z; NULL for other work
--   block: block size in threads, x * y * z; NULL when the capture has none
--   launch_count: executions
--   sum_ns: sum of their durations
--   min_ns: shortest
--   max_ns: longest
--   deviation_ns2: sum of squared deviations of the durations from their mean; divided by launch_count - 1 it is the variance

WITH w AS (
    SELECT k.source_id, coalesce(k.pid, -1) AS pid, k.device_id, k.start_ns, k.duration_ns, 'kernel' AS kind, k.kernel_name_id, NULL::VARCHAR AS operation, h.grid_x, h.grid_y, h.grid_z, h.block_x, h.block_y, h.block_z
    FROM kernel k LEFT JOIN kernel_shape h ON h.run_id = k.run_id AND h.kernel_shape_id = k.kernel_shape_id WHERE k.run_id = run
    UNION ALL
    SELECT m.source_id, coalesce(m.pid, -1), m.device_id, m.start_ns, m.duration_ns, 'copy', NULL, m.operation, NULL, NULL, NULL, NULL, NULL, NULL FROM memop m WHERE m.run_id = run
    UNION ALL
    SELECT g.source_id, coalesce(g.pid, -1), g.device_id, g.start_ns, g.duration_ns, 'graph', NULL, 'graph replay', NULL, NULL, NULL, NULL, NULL, NULL FROM graph_launch g WHERE g.run_id = run AND g.mode = 'graph'
), s AS (
    SELECT s.source_id, coalesce(s.pid, -1) AS pid, s.device_id, s.start_ns, s.until_ns, s.nth, s.is_warmup FROM step s WHERE s.run_id = run AND s.attribution = 'time'
), q AS (
    SELECT CASE WHEN w.start_ns < s.until_ns THEN s.nth END AS nth, w.source_id, nullif(w.pid, -1) AS pid, w.device_id, w.start_ns < s.until_ns AND s.is_warmup AS is_warmup, w.kind, w.kernel_name_id, w.operation, w.grid_x, w.grid_y, w.grid_z, w.block_x, w.block_y, w.block_z, w.duration_ns
    FROM w JOIN timeline t ON t.run_id = run AND t.source_id = w.source_id AND t.is_counted
    ASOF LEFT JOIN s ON s.source_id = w.source_id AND s.pid = w.pid AND s.device_id = w.device_id AND s.start_ns <= w.start_ns
)
SELECT q.nth, q.source_id, q.pid, q.device_id AS device, coalesce(q.is_warmup, false) AS is_warmup, q.kind, coalesce(n.name, q.operation) AS kernel, c.family, c.role, _dims(q.grid_x, q.grid_y, q.grid_z) AS grid, _dims(q.block_x, q.block_y, q.block_z) AS block,
    count(*) AS launch_count, sum(q.duration_ns)::BIGINT AS sum_ns, min(q.duration_ns) AS min_ns, max(q.duration_ns) AS max_ns,
    _spread(count(*), sum(q.duration_ns), sum(q.duration_ns::HUGEINT * q.duration_ns)) / count(*) AS deviation_ns2
FROM q LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = q.kernel_name_id LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = q.kernel_name_id
GROUP BY ALL
ORDER BY q.source_id, q.pid, q.device_id, q.nth, sum_ns DESC, kernel, q.kind, grid, block
