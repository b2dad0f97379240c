-- step-work v1: Device work per step of a run without stages, and outside all steps: what comparisons of such runs use. The rows add up to
--     all device work of the counted capture.
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

-- Millions of rows are grouped by numbers: by texts and dimensions takes several times as long. Only work of GPUs that have steps is
-- sorted.
WITH w AS NOT MATERIALIZED (
    SELECT
        k.source_id,
        coalesce(k.pid, -1) AS pid,
        k.device_id,
        k.start_ns,
        k.duration_ns,
        'kernel' AS kind,
        k.kernel_name_id,
        k.kernel_shape_id,
        NULL::VARCHAR AS operation
    FROM kernel k
    WHERE k.run_id = run
    UNION ALL
    SELECT
        m.source_id,
        coalesce(m.pid, -1),
        m.device_id,
        m.start_ns,
        m.duration_ns,
        'copy',
        NULL,
        NULL,
        m.operation
    FROM memop m
    WHERE m.run_id = run
    UNION ALL
    SELECT
        g.source_id,
        coalesce(g.pid, -1),
        g.device_id,
        g.start_ns,
        g.duration_ns,
        'graph',
        NULL,
        NULL,
        'graph replay'
    FROM graph_launch g
    WHERE g.run_id = run AND g.mode = 'graph'
), s AS (
    SELECT
        s.source_id,
        coalesce(s.pid, -1) AS pid,
        s.device_id,
        s.start_ns,
        s.until_ns,
        s.nth,
        s.is_warmup
    FROM step s
    WHERE s.run_id = run AND s.attribution = 'time'
), q AS (
    SELECT
        CASE WHEN w.start_ns < s.until_ns THEN s.nth END AS nth,
        w.start_ns < s.until_ns AND s.is_warmup AS is_warmup,
        w.source_id,
        w.pid,
        w.device_id,
        w.kind,
        w.kernel_name_id,
        w.kernel_shape_id,
        w.operation,
        w.duration_ns
    FROM w
    SEMI JOIN s x ON x.source_id = w.source_id AND x.pid = w.pid AND x.device_id = w.device_id
    ASOF LEFT JOIN s
        ON s.source_id = w.source_id AND s.pid = w.pid AND s.device_id = w.device_id AND s.start_ns <= w.start_ns
    UNION ALL
    SELECT
        NULL,
        false,
        w.source_id,
        w.pid,
        w.device_id,
        w.kind,
        w.kernel_name_id,
        w.kernel_shape_id,
        w.operation,
        w.duration_ns
    FROM w ANTI JOIN s ON s.source_id = w.source_id AND s.pid = w.pid AND s.device_id = w.device_id
), by_shape AS (
    SELECT
        q.nth,
        coalesce(q.is_warmup, false) AS is_warmup,
        q.source_id,
        q.pid,
        q.device_id,
        q.kind,
        q.kernel_name_id,
        q.kernel_shape_id,
        q.operation,
        count(*) AS launch_count,
        sum(q.duration_ns) AS sum_ns,
        min(q.duration_ns) AS min_ns,
        max(q.duration_ns) AS max_ns,
        sum(q.duration_ns::HUGEINT * q.duration_ns) AS squares
    FROM q JOIN timeline t ON t.run_id = run AND t.source_id = q.source_id AND t.is_counted
    GROUP BY ALL
), a AS (
    SELECT
        b.nth,
        b.is_warmup,
        b.source_id,
        nullif(b.pid, -1) AS pid,
        b.device_id,
        b.kind,
        b.kernel_name_id,
        b.operation,
        h.grid_x,
        h.grid_y,
        h.grid_z,
        h.block_x,
        h.block_y,
        h.block_z,
        sum(b.launch_count)::BIGINT AS launch_count,
        sum(b.sum_ns) AS sum_ns,
        min(b.min_ns) AS min_ns,
        max(b.max_ns) AS max_ns,
        sum(b.squares) AS squares
    FROM by_shape b
    LEFT JOIN kernel_shape h ON h.run_id = run AND h.kernel_shape_id = b.kernel_shape_id
    GROUP BY ALL
)
SELECT
    a.nth,
    a.source_id,
    a.pid,
    a.device_id AS device,
    a.is_warmup,
    a.kind,
    coalesce(n.name, a.operation) AS kernel,
    c.family,
    c.role,
    _dims(a.grid_x, a.grid_y, a.grid_z) AS grid,
    _dims(a.block_x, a.block_y, a.block_z) AS block,
    a.launch_count,
    a.sum_ns::BIGINT AS sum_ns,
    a.min_ns,
    a.max_ns,
    _spread(a.launch_count, a.sum_ns, a.squares) / a.launch_count AS deviation_ns2
FROM a
LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = a.kernel_name_id
LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = a.kernel_name_id
ORDER BY a.source_id, a.pid, a.device_id, a.nth, sum_ns DESC, kernel, a.kind, grid, block
