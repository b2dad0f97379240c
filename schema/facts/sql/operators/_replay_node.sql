-- _replay_node: Work of CUDA graph replays by the operator that a stream capture recorded it in.
-- grain: one kind of replay and its n-th work, or a kernel of it where the graph may have branches
-- key: replay_id, work_number, kind, kernel_name_id, kernel_shape_id
-- needs: _replay_fit
-- columns:
--   replay_id BIGINT: the replays, as in _replay_work
--   work_number BIGINT: place in the replay; NULL where the graph may have branches, whose work has no order
--   kind VARCHAR: kernel, copy or fill; NULL with a work_number
--   kernel_name_id BIGINT: kernel name; NULL with a work_number, and for others
--   kernel_shape_id BIGINT: launch shape; NULL for any
--   op_id BIGINT: innermost operator; 0 outside every operator. Of several captures that fit, that of the first: the names of the operators
--     around it are the same in all
--   begin_count BIGINT: how much of this work begins a call of that operator
--   has_inputs BOOLEAN: whether the inputs of these operators are the same in all
--   has_stack BOOLEAN: whether their Python stacks and that of the launch are
--   stack_id BIGINT: Python stack of the launch, as in captured_launch; NULL without has_stack
--   operator_count BIGINT: how many different names of operators fit: replays with more than one anywhere have no operators

WITH process AS (
    SELECT DISTINCT w.replay_id, w.pid
    FROM _replay_work w
), fit AS ( -- a capture of the same process comes before those of others
    SELECT
        f.replay_id,
        f.source_id,
        f.capture_number,
        f.is_forked,
        c.pid = p.pid AS is_own
    FROM _replay_fit f
    JOIN process p ON p.replay_id = f.replay_id
    JOIN (SELECT DISTINCT n.source_id, n.capture_number, n.pid FROM _captured_node n) c
        ON c.source_id = f.source_id AND c.capture_number = f.capture_number
    WHERE f.is_same AND f.is_named
), taken AS (
    SELECT
        f.replay_id,
        f.source_id,
        f.capture_number,
        f.is_forked,
        [f.source_id, f.capture_number]
            = min([f.source_id, f.capture_number]) OVER (PARTITION BY f.replay_id, f.is_own) AS is_first
    FROM fit f
    QUALIFY (f.is_own OR NOT bool_or(f.is_own) OVER (PARTITION BY f.replay_id))
        AND bool_or(f.is_forked) OVER (PARTITION BY f.replay_id) = bool_and(f.is_forked) OVER (PARTITION BY f.replay_id)
), kernel AS (
    SELECT
        k.label_id,
        any_value(k.kernel_name_id) AS kernel_name_id,
        any_value(k.kernel_shape_id) AS kernel_shape_id
    FROM _captured_kernel k
    WHERE k.kernel_count = 1
    GROUP BY k.label_id
), node AS (
    SELECT
        t.replay_id,
        CASE WHEN NOT t.is_forked THEN c.launch_number END::BIGINT AS work_number,
        CASE WHEN t.is_forked THEN c.kind END AS kind,
        CASE WHEN t.is_forked THEN k.kernel_name_id END AS kernel_name_id,
        CASE WHEN t.is_forked THEN k.kernel_shape_id END AS kernel_shape_id,
        t.is_first,
        c.op_id,
        c.begins_call,
        c.names_id,
        c.inputs_id,
        c.stacks_id,
        c.stack_id
    FROM taken t
    JOIN _captured_node c ON c.source_id = t.source_id AND c.capture_number = t.capture_number
    LEFT JOIN kernel k ON k.label_id = c.label_id
)
SELECT
    n.replay_id,
    n.work_number,
    n.kind,
    n.kernel_name_id,
    n.kernel_shape_id,
    coalesce(min(n.op_id) FILTER (n.is_first), min(n.op_id)) AS op_id,
    count(*) FILTER (n.is_first AND n.begins_call) AS begin_count,
    min(n.inputs_id) = max(n.inputs_id) AS has_inputs,
    min(n.stacks_id) = max(n.stacks_id) AS has_stack,
    CASE WHEN has_stack THEN min(n.stack_id) END AS stack_id,
    count(DISTINCT n.names_id) AS operator_count
FROM node n
GROUP BY n.replay_id, n.work_number, n.kind, n.kernel_name_id, n.kernel_shape_id
