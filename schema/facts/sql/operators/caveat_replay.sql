-- caveat_replay: Why work of CUDA graph replays has no operators although stream captures are in the traces, and how much of it counts for
--     no line of code that captured it.
-- into: caveat
-- needs: captured_launch

WITH kinds AS (
    SELECT
        w.replay_id,
        bool_and(w.is_ordered) AS is_ordered,
        sum(w.duration_ns) AS time_ns,
        count(*) FILTER (w.work_number = 1) AS replay_count
    FROM _replay_work w
    GROUP BY w.replay_id
), fit AS (
    SELECT
        f.replay_id,
        bool_or(f.is_same) AS is_same,
        bool_or(f.is_same AND f.is_named) AS is_named
    FROM _replay_fit f
    GROUP BY f.replay_id
), node AS (
    SELECT
        n.replay_id,
        max(n.operator_count) = 1 AS is_single
    FROM _replay_node n
    GROUP BY n.replay_id
), why AS (
    SELECT
        CASE
            WHEN NOT k.is_ordered THEN 'order'
            WHEN f.replay_id IS NULL THEN 'count'
            WHEN NOT f.is_same THEN 'kernels'
            WHEN NOT f.is_named THEN 'names'
            WHEN n.is_single THEN NULL
            ELSE 'several'
        END AS reason,
        k.time_ns,
        k.replay_count
    FROM kinds k
    LEFT JOIN fit f ON f.replay_id = k.replay_id
    LEFT JOIN node n ON n.replay_id = k.replay_id
)
SELECT
    'outside' AS topic,
    'replays-unlike-captures' AS kind,
    'torch' AS capture,
    bool_or(x.is_counted) AS is_counted,
    w.reason AS subject,
    sum(w.replay_count)::BIGINT AS item_count,
    sum(w.time_ns)::DOUBLE AS time_ns,
    (
        SELECT sum(o.total_ns)
        FROM op_work o
        JOIN op_source s ON s.run_id = $run AND s.source_id = o.source_id AND s.capture = 'torch'
        WHERE o.run_id = $run
    )::DOUBLE AS of_time_ns
FROM why w
JOIN (
    SELECT bool_or(s.is_counted) AS is_counted
    FROM op_source s
    WHERE s.run_id = $run AND s.capture = 'torch'
) x ON true
WHERE w.reason IS NOT NULL
GROUP BY w.reason
UNION ALL BY NAME
SELECT
    'stack' AS topic,
    'replays-without-stack' AS kind,
    'torch' AS capture,
    bool_or(c.is_counted) AS is_counted,
    coalesce(sum(w.duration_ns) FILTER (r.stack_id IS NULL), 0)::DOUBLE AS time_ns,
    (
        SELECT sum(x.total_ns)
        FROM stack_work x
        JOIN op_source s ON s.run_id = $run AND s.source_id = x.source_id AND s.capture = 'torch'
        WHERE x.run_id = $run
    )::DOUBLE AS of_time_ns
FROM _replay_work w
LEFT JOIN _replay_op r
    ON r.source_id = w.source_id
    AND r.pid = w.pid
    AND r.device_id = w.device_id
    AND r.correlation_id = w.correlation_id
    AND r.start_ns = w.start_ns
JOIN op_source c ON c.run_id = $run AND c.source_id = w.source_id
HAVING time_ns > 0 AND of_time_ns > 0
