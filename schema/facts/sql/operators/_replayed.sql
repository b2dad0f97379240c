-- _replayed: Kernels, copies and fills of CUDA graph replays with the operator that recorded them into the graph.
-- grain: one kernel, copy or fill
-- key: source_id, pid, device_id, correlation_id, start_ns, graph_node_id
-- needs: _node_op|_replay_op
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process
--   tid INTEGER: thread of the replay's launch
--   device_id INTEGER: GPU
--   correlation_id BIGINT: its launch
--   launch_start_ns BIGINT: start of the launch
--   start_ns BIGINT: start on the GPU
--   duration_ns BIGINT: time it took
--   graph_node_id BIGINT: the node; NULL where the trace does not name nodes
--   path_id BIGINT: ranges around the launch of the replay
--   kernel_name_id BIGINT: kernel name; NULL for copies and fills
--   operation VARCHAR: operation of a copy or fill; NULL for kernels
--   launched_op_id BIGINT: innermost operator around the launch of the replay, as in kernel
--   launched_stack_id BIGINT: Python stack of the launch of the replay, as in kernel
--   op_id BIGINT: innermost operator around the capture; 0 outside every operator
--   begins_call BOOLEAN: whether it begins a call of that operator
--   has_inputs BOOLEAN: whether the inputs of the operators around it are known: graphs that look the same may have been captured with
--     several
--   has_stack BOOLEAN: whether their Python stacks and that of the captured launch are, likewise
--   stack_id BIGINT: Python stack of the captured launch; NULL when not recorded, and without has_stack

WITH work AS (
    SELECT
        k.source_id,
        k.pid,
        k.tid,
        k.device_id,
        k.correlation_id,
        k.launch_start_ns,
        k.start_ns,
        k.duration_ns,
        k.graph_node_id,
        k.path_id,
        k.kernel_name_id,
        NULL::VARCHAR AS operation,
        k.op_id,
        k.stack_id
    FROM kernel k
    WHERE k.run_id = $run
    UNION ALL
    SELECT
        m.source_id,
        m.pid,
        m.tid,
        m.device_id,
        m.correlation_id,
        m.launch_start_ns,
        m.start_ns,
        m.duration_ns,
        m.graph_node_id,
        m.path_id,
        NULL,
        m.operation,
        m.op_id,
        m.stack_id
    FROM memop m
    WHERE m.run_id = $run
)
SELECT
    w.source_id,
    w.pid,
    w.tid,
    w.device_id,
    w.correlation_id,
    w.launch_start_ns,
    w.start_ns,
    w.duration_ns,
    w.graph_node_id,
    w.path_id,
    w.kernel_name_id,
    w.operation,
    w.op_id AS launched_op_id,
    w.stack_id AS launched_stack_id,
    r.op_id,
    r.begins_call,
    r.has_inputs,
    r.has_stack,
    r.stack_id
FROM work w
JOIN _replay_op r
    ON r.source_id = w.source_id
    AND r.pid = w.pid
    AND r.device_id = w.device_id
    AND r.correlation_id = w.correlation_id
    AND r.start_ns = w.start_ns
UNION ALL -- of the nodes of a call one stands for it, each time that it runs
SELECT
    w.source_id,
    w.pid,
    w.tid,
    w.device_id,
    w.correlation_id,
    w.launch_start_ns,
    w.start_ns,
    w.duration_ns,
    w.graph_node_id,
    w.path_id,
    w.kernel_name_id,
    w.operation,
    w.op_id,
    w.stack_id,
    n.op_id,
    n.op_id > 0
    AND w.graph_node_id = min(w.graph_node_id) OVER (PARTITION BY w.source_id, w.pid, w.correlation_id, n.op_id),
    true,
    true,
    NULL
FROM work w
JOIN _node_op n ON n.source_id = w.source_id AND n.pid = w.pid AND n.graph_node_id = w.graph_node_id
