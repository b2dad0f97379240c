-- op_work: Kernels, copies and fills by the operators that launched them.
-- grain: one kernel name or operation per chain of operators, or of none, launched in a stage
-- key: source_id, chain_id, outside, stage, kernel_name_id, operation
-- needs: op
-- columns:
--   source_id INTEGER: the source
--   chain_id BIGINT: operators around the launch, as in op_chain; for a graph replay, those around the capture of the node if known; NULL
--     when none is known
--   op_name_id BIGINT: innermost operator; NULL outside
--   outermost_op_name_id BIGINT: outermost operator; NULL outside
--   outside VARCHAR: (graph replay) for replays outside every operator with an unknown capture, (none) for other work outside, (no launch)
--     when the launch was not captured; NULL for work of an operator
--   stage VARCHAR: stage of the launch; (none) outside every stage
--   kernel_name_id BIGINT: kernel name; NULL for copies and fills
--   operation VARCHAR: operation of a copy or fill, or graph replay for a graph traced as a whole; NULL for kernels
--   call_count BIGINT: executions
--   total_ns BIGINT: sum of the durations
--   min_ns BIGINT: shortest
--   max_ns BIGINT: longest

WITH work AS (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.correlation_id,
        k.graph_node_id,
        k.launch_name_id,
        k.op_id,
        k.path_id,
        k.kernel_name_id,
        NULL::VARCHAR AS operation,
        k.start_ns,
        k.duration_ns
    FROM kernel k
    WHERE k.run_id = $run
    UNION ALL
    SELECT
        m.source_id,
        m.pid,
        m.device_id,
        m.correlation_id,
        m.graph_node_id,
        m.launch_name_id,
        m.op_id,
        m.path_id,
        NULL,
        m.operation,
        m.start_ns,
        m.duration_ns
    FROM memop m
    WHERE m.run_id = $run
    UNION ALL
    SELECT
        g.source_id,
        g.pid,
        NULL,
        NULL,
        NULL,
        g.launch_name_id,
        0,
        g.path_id,
        NULL,
        'graph replay',
        g.start_ns,
        g.duration_ns
    FROM graph_launch g
    WHERE g.run_id = $run AND g.mode = 'graph'
), replay AS (
    SELECT a.api_name_id
    FROM api_name a
    WHERE a.run_id = $run AND contains(a.name, 'GraphLaunch')
), added AS (
    SELECT r.leaf_op_id, r.stage, r.chain_id
    FROM _op_replay r
    WHERE r.is_added AND r.is_leaf
), placed AS (
    SELECT
        w.source_id,
        w.op_id,
        coalesce(n.op_id, r.op_id) AS captured_op_id,
        w.graph_node_id IS NOT NULL OR w.operation = 'graph replay' OR p.api_name_id IS NOT NULL AS is_replay,
        coalesce(s.stage, '(none)') AS stage,
        w.kernel_name_id,
        w.operation,
        w.duration_ns
    FROM work w
    LEFT JOIN _node_op n ON n.source_id = w.source_id AND n.pid = w.pid AND n.graph_node_id = w.graph_node_id
    LEFT JOIN _replay_op r
        ON r.source_id = w.source_id
        AND r.pid = w.pid
        AND r.device_id = w.device_id
        AND r.correlation_id = w.correlation_id
        AND r.start_ns = w.start_ns
    LEFT JOIN replay p ON p.api_name_id = w.launch_name_id
    LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = w.path_id
), t AS (
    SELECT
        w.source_id,
        coalesce(x.chain_id, c.chain_id) AS chain_id,
        CASE
            WHEN x.chain_id IS NOT NULL THEN NULL
            WHEN w.op_id IS NULL THEN '(no launch)'
            WHEN w.op_id = 0
                THEN CASE WHEN w.is_replay AND w.captured_op_id IS NULL THEN '(graph replay)' ELSE '(none)' END
        END AS outside,
        w.stage,
        w.kernel_name_id,
        w.operation,
        count(*) AS call_count,
        sum(w.duration_ns)::BIGINT AS total_ns,
        min(w.duration_ns) AS min_ns,
        max(w.duration_ns) AS max_ns
    FROM placed w
    LEFT JOIN _op_call c ON c.op_id = w.op_id
    LEFT JOIN added x
        ON x.leaf_op_id = CASE WHEN w.captured_op_id IS DISTINCT FROM w.op_id THEN w.captured_op_id END
        AND x.stage = w.stage
    WHERE w.source_id IN (SELECT x.source_id FROM op_source x WHERE x.run_id = $run AND x.capture <> 'key_averages')
    GROUP BY ALL
)
SELECT
    t.source_id,
    t.chain_id,
    c.op_name_ids[-1] AS op_name_id,
    c.op_name_ids[1] AS outermost_op_name_id,
    t.outside,
    t.stage,
    t.kernel_name_id,
    t.operation,
    t.call_count,
    t.total_ns,
    t.min_ns,
    t.max_ns
FROM t LEFT JOIN op_chain c ON c.run_id = $run AND c.chain_id = t.chain_id
