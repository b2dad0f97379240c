-- stack_work: Kernels, copies and fills by the Python stack that launched them, those of graph replays by the stack that captured them
--     where it is known.
-- grain: one kernel name or operation on a GPU, launched or captured in a Python stack, and stage, or by the backward pass of operators
--     called there
-- key: source_id, device_id, stage, stack_id, is_backward, kernel_name_id, operation
-- needs: python_stack
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   stage VARCHAR: stage of the launch; (none) outside every stage
--   stack_id BIGINT: the stack, of the capture for a graph replay whose capture is known; 0 outside every Python function, NULL when the
--     source has no stacks or the launch was not captured
--   is_backward BOOLEAN: whether it was launched outside Python by a backward operator, as on autograd's own threads: stack_id is then the
--     stack that called the forward operator
--   kernel_name_id BIGINT: kernel name; NULL for others
--   operation VARCHAR: operation of a copy or fill, or graph replay for a graph traced as a whole; NULL for kernels
--   call_count BIGINT: executions
--   total_ns BIGINT: sum of the durations
--   min_ns BIGINT: shortest
--   max_ns BIGINT: longest

WITH RECURSIVE known AS (
    SELECT r.source_id, r.pid, r.device_id, r.correlation_id, r.start_ns, r.stack_id, r.op_id
    FROM _replay_op r
    WHERE r.stack_id IS NOT NULL
), work AS (
    SELECT
        k.source_id,
        k.device_id,
        k.path_id,
        coalesce(r.stack_id, k.stack_id) AS stack_id,
        CASE WHEN coalesce(r.stack_id, k.stack_id) = 0 THEN coalesce(r.op_id, k.op_id) END AS op_id,
        k.kernel_name_id,
        NULL::VARCHAR AS operation,
        count(*) AS call_count,
        sum(k.duration_ns) AS total_ns,
        min(k.duration_ns) AS min_ns,
        max(k.duration_ns) AS max_ns
    FROM kernel k
    LEFT JOIN known r
        ON r.source_id = k.source_id
        AND r.pid = k.pid
        AND r.device_id = k.device_id
        AND r.correlation_id = k.correlation_id
        AND r.start_ns = k.start_ns
    WHERE k.run_id = $run
    GROUP BY ALL
    UNION ALL
    SELECT
        m.source_id,
        m.device_id,
        m.path_id,
        coalesce(r.stack_id, m.stack_id),
        CASE WHEN coalesce(r.stack_id, m.stack_id) = 0 THEN coalesce(r.op_id, m.op_id) END,
        NULL,
        m.operation,
        count(*),
        sum(m.duration_ns),
        min(m.duration_ns),
        max(m.duration_ns)
    FROM memop m
    LEFT JOIN known r
        ON r.source_id = m.source_id
        AND r.pid = m.pid
        AND r.device_id = m.device_id
        AND r.correlation_id = m.correlation_id
        AND r.start_ns = m.start_ns
    WHERE m.run_id = $run
    GROUP BY ALL
    UNION ALL
    SELECT
        l.source_id,
        l.device_id,
        l.path_id,
        l.stack_id,
        NULL,
        NULL,
        'graph replay',
        count(*),
        sum(l.duration_ns),
        min(l.duration_ns),
        max(l.duration_ns)
    FROM graph_launch l
    WHERE l.run_id = $run AND l.mode = 'graph'
    GROUP BY ALL
), around AS ( -- from the operator outwards, to the first that is known to be a backward one
    SELECT
        w.op_id AS leaf_op_id,
        o.parent_op_id,
        o.forward_op_id
    FROM (SELECT DISTINCT x.op_id FROM work x WHERE x.op_id > 0) w
    JOIN op o ON o.run_id = $run AND o.op_id = w.op_id
    UNION ALL
    SELECT a.leaf_op_id, o.parent_op_id, o.forward_op_id
    FROM around a JOIN op o ON o.run_id = $run AND o.op_id = a.parent_op_id
    WHERE a.forward_op_id IS NULL
), backward AS (
    SELECT a.leaf_op_id, f.stack_id
    FROM around a JOIN op f ON f.run_id = $run AND f.op_id = a.forward_op_id
    WHERE f.stack_id > 0
)
SELECT
    w.source_id,
    w.device_id,
    coalesce(s.stage, '(none)') AS stage,
    coalesce(b.stack_id, w.stack_id) AS stack_id,
    b.stack_id IS NOT NULL AS is_backward,
    w.kernel_name_id,
    w.operation,
    sum(w.call_count)::BIGINT AS call_count,
    sum(w.total_ns)::BIGINT AS total_ns,
    min(w.min_ns) AS min_ns,
    max(w.max_ns) AS max_ns
FROM work w
LEFT JOIN backward b ON b.leaf_op_id = w.op_id
LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = w.path_id
GROUP BY w.source_id, w.device_id, coalesce(s.stage, '(none)'), coalesce(b.stack_id, w.stack_id),
    b.stack_id IS NOT NULL, w.kernel_name_id, w.operation
