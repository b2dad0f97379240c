-- _op_replay: Work of graph replays that is moved to the operator its node was captured in, with the operators around that one.
-- grain: one operator that work is added to or taken from, and a stage
-- key: leaf_op_id, stage, is_added, level
-- needs: _replayed
-- columns:
--   leaf_op_id BIGINT: call in which the nodes were captured, or that launched their replay
--   stage VARCHAR: stage that the replay was launched in, or for what is taken off that of its launching operator; (none) outside every
--     stage
--   is_added BOOLEAN: whether the operator gains the work: what launched a replay loses it
--   level INTEGER: 1 for the outermost operator, and so on up to leaf_op_id
--   is_leaf BOOLEAN: whether this is leaf_op_id
--   has_inputs BOOLEAN: whether the inputs of the operators are known: graphs that look the same may have been captured with several
--   has_stack BOOLEAN: whether their Python stacks are, likewise
--   op_id BIGINT: the call of this level
--   chain_id BIGINT: chain of operators, as in _op_call were it called in that stage
--   parent_chain_id BIGINT: the chain without its last name; NULL for a first one
--   root_stage VARCHAR: stage of that chain
--   total_ns BIGINT: time of the work, negative when taken off
--   work_count BIGINT: kernels, copies and fills, likewise

WITH RECURSIVE moved AS (
    SELECT
        w.op_id AS captured_op_id,
        w.launched_op_id,
        coalesce(s.stage, '(none)') AS stage,
        bool_and(w.has_inputs) AS has_inputs,
        bool_and(w.has_stack) AS has_stack,
        sum(w.duration_ns)::BIGINT AS total_ns,
        count(*) AS work_count
    FROM _replayed w LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = w.path_id
    WHERE w.op_id > 0 AND w.op_id IS DISTINCT FROM w.launched_op_id
    GROUP BY w.op_id, w.launched_op_id, coalesce(s.stage, '(none)')
), leaf AS (
    SELECT
        m.captured_op_id AS leaf_op_id,
        m.stage,
        true AS is_added,
        bool_and(m.has_inputs) AS has_inputs,
        bool_and(m.has_stack) AS has_stack,
        sum(m.total_ns)::BIGINT AS total_ns,
        sum(m.work_count)::BIGINT AS work_count
    FROM moved m
    GROUP BY m.captured_op_id, m.stage
    UNION ALL
    SELECT
        m.launched_op_id,
        NULL,
        false,
        true,
        true,
        -sum(m.total_ns)::BIGINT,
        -sum(m.work_count)::BIGINT
    FROM moved m
    WHERE m.launched_op_id > 0
    GROUP BY m.launched_op_id
), up AS (
    SELECT
        l.leaf_op_id,
        l.stage,
        l.is_added,
        l.has_inputs,
        l.has_stack,
        l.total_ns,
        l.work_count,
        [l.leaf_op_id] AS ops,
        [o.op_name_id] AS names,
        o.parent_op_id AS next_id,
        o.source_id,
        o.path_id AS root_path_id
    FROM leaf l JOIN op o ON o.run_id = $run AND o.op_id = l.leaf_op_id
    UNION ALL
    SELECT
        u.leaf_op_id,
        u.stage,
        u.is_added,
        u.has_inputs,
        u.has_stack,
        u.total_ns,
        u.work_count,
        list_prepend(o.op_id, u.ops),
        list_prepend(o.op_name_id, u.names),
        o.parent_op_id,
        u.source_id,
        o.path_id
    FROM up u
    JOIN op o ON o.run_id = $run AND o.op_id = u.next_id AND NOT list_contains(u.ops, o.op_id)
), whole AS (
    SELECT
        u.leaf_op_id,
        u.stage,
        u.is_added,
        u.has_inputs,
        u.has_stack,
        u.total_ns,
        u.work_count,
        u.ops,
        u.names,
        u.source_id,
        coalesce(u.stage, r.stage, '(none)') AS root_stage
    FROM up u LEFT JOIN path_stage r ON r.run_id = $run AND r.path_id = u.root_path_id
    WHERE u.next_id IS NULL
), part AS (
    SELECT
        w.leaf_op_id,
        w.stage,
        w.is_added,
        w.has_inputs,
        w.has_stack,
        w.total_ns,
        w.work_count,
        w.ops,
        w.root_stage,
        unnest(range(1, len(w.ops) + 1)) AS level,
        (hash(w.source_id, w.root_stage, w.names[1]) >> 1)::BIGINT AS first_chain_id,
        w.names
    FROM whole w
), chained AS (
    SELECT
        p.leaf_op_id,
        p.stage,
        p.is_added,
        p.has_inputs,
        p.has_stack,
        p.total_ns,
        p.work_count,
        p.ops,
        p.root_stage,
        p.level,
        list_reduce(
            p.names[2:p.level],
            lambda chain,
            name: (hash(chain, name) >> 1)::BIGINT,
            p.first_chain_id
        ) AS chain_id,
        CASE
            WHEN p.level > 1
                THEN list_reduce(
                    p.names[2:p.level - 1],
                    lambda chain,
                    name: (hash(chain, name) >> 1)::BIGINT,
                    p.first_chain_id
                )
        END AS parent_chain_id
    FROM part p
)
SELECT
    c.leaf_op_id,
    coalesce(c.stage, s.stage, '(none)') AS stage,
    c.is_added,
    c.level,
    c.level = len(c.ops) AS is_leaf,
    c.has_inputs,
    c.has_stack,
    c.ops[c.level] AS op_id,
    c.chain_id,
    c.parent_chain_id,
    c.root_stage,
    c.total_ns,
    c.work_count
FROM chained c
JOIN op o ON o.run_id = $run AND o.op_id = c.ops[c.level]
LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = o.path_id
