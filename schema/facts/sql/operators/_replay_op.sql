-- _replay_op: Work of CUDA graph replays with the operator that recorded it, where a stream capture of the run fits the replay and no other
--     fits with other operators.
-- grain: one kernel, copy or fill
-- key: source_id, pid, device_id, correlation_id, start_ns
-- needs: _replay_node
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_id INTEGER: GPU
--   correlation_id BIGINT: its launch
--   start_ns BIGINT: start on the GPU
--   op_id BIGINT: as in _replay_node
--   begins_call BOOLEAN: whether it begins a call of that operator
--   has_inputs BOOLEAN: likewise
--   has_stack BOOLEAN: likewise
--   stack_id BIGINT: likewise

WITH single AS (
    SELECT n.replay_id
    FROM _replay_node n
    GROUP BY n.replay_id
    HAVING max(n.operator_count) = 1
), node AS (
    SELECT
        n.replay_id,
        n.work_number,
        n.kind,
        n.kernel_name_id,
        n.kernel_shape_id,
        n.op_id,
        n.begin_count,
        n.has_inputs,
        n.has_stack,
        n.stack_id
    FROM _replay_node n JOIN single s ON s.replay_id = n.replay_id
)
SELECT
    w.source_id,
    w.pid,
    w.device_id,
    w.correlation_id,
    w.start_ns,
    n.op_id,
    n.begin_count = 1 AS begins_call,
    n.has_inputs,
    n.has_stack,
    n.stack_id
FROM _replay_work w JOIN node n ON n.replay_id = w.replay_id AND n.work_number = w.work_number
UNION ALL
SELECT
    w.source_id,
    w.pid,
    w.device_id,
    w.correlation_id,
    w.start_ns,
    n.op_id,
    row_number() OVER (
        PARTITION BY w.source_id, w.pid, w.device_id, w.correlation_id, n.kind, n.kernel_name_id, n.kernel_shape_id
        ORDER BY w.start_ns, w.work_number
    )
        <= n.begin_count,
    n.has_inputs,
    n.has_stack,
    n.stack_id
FROM _replay_work w
JOIN node n
    ON n.work_number IS NULL
    AND n.replay_id = w.replay_id
    AND n.kind = w.kind
    AND n.kernel_name_id IS NOT DISTINCT FROM w.kernel_name_id
    AND (n.kernel_shape_id IS NULL OR n.kernel_shape_id = w.kernel_shape_id)
