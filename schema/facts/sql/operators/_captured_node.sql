-- _captured_node: Launches that stream captures recorded, with what says which kernel each may be and which operator it is of.
-- grain: one launch of a stream capture
-- key: source_id, capture_number, launch_number
-- needs: captured_launch
-- columns:
--   source_id INTEGER: the source
--   capture_number INTEGER: the stream capture
--   launch_number INTEGER: 1, 2, ... within it
--   launch_count BIGINT: launches of the capture
--   is_forked BOOLEAN: whether the graph may have branches
--   ended_ns BIGINT: when the capture ended
--   pid INTEGER: process
--   kind VARCHAR: kernel, copy, fill or graph
--   label_id BIGINT: what is known of the kernel, as in _captured_kernel: its name, or the operator and its inputs, which may have run
--     outside graphs too; 0 when nothing is
--   op_id BIGINT: innermost operator; 0 outside every operator
--   names_id BIGINT: hash of the names of the operators around it; 0 outside every operator
--   inputs_id BIGINT: hash of these and their inputs
--   stacks_id BIGINT: hash of these, their Python stacks and that of the launch
--   stack_id BIGINT: Python stack of the launch, as in captured_launch
--   begins_call BOOLEAN: whether it is the first launch of its operator call

WITH RECURSIVE up AS (
    SELECT
        l.op_id AS leaf_op_id,
        o.parent_op_id,
        [o.op_name_id] AS names,
        [coalesce(o.op_input_id, 0)] AS inputs,
        [coalesce(o.stack_id, 0)] AS stacks
    FROM (SELECT DISTINCT c.op_id FROM captured_launch c WHERE c.run_id = $run AND c.op_id > 0) l
    JOIN op o ON o.run_id = $run AND o.op_id = l.op_id
    UNION ALL
    SELECT
        u.leaf_op_id,
        o.parent_op_id,
        list_append(u.names, o.op_name_id),
        list_append(u.inputs, coalesce(o.op_input_id, 0)),
        list_append(u.stacks, coalesce(o.stack_id, 0))
    FROM up u JOIN op o ON o.run_id = $run AND o.op_id = u.parent_op_id
    WHERE len(u.names) < 10000
), chain AS (
    SELECT
        u.leaf_op_id,
        (hash(u.names) >> 1)::BIGINT AS names_id,
        (hash(u.names, u.inputs) >> 1)::BIGINT AS inputs_id,
        (hash(u.names, u.stacks) >> 1)::BIGINT AS stacks_id
    FROM up u
    WHERE u.parent_op_id IS NULL
)
SELECT
    c.source_id,
    c.capture_number,
    c.launch_number,
    count(*) OVER (PARTITION BY c.source_id, c.capture_number) AS launch_count,
    c.is_forked,
    c.ended_ns,
    c.pid,
    c.kind,
    CASE
        WHEN c.kind <> 'kernel' THEN 0
        WHEN c.kernel_name_id IS NOT NULL THEN (hash(c.kernel_name_id) >> 1)::BIGINT
        WHEN c.op_id > 0 THEN (hash(o.op_name_id, o.op_input_id) >> 1)::BIGINT
        ELSE 0
    END AS label_id,
    c.op_id,
    coalesce(x.names_id, 0) AS names_id,
    coalesce(x.inputs_id, 0) AS inputs_id,
    (hash(x.stacks_id, c.stack_id) >> 1)::BIGINT AS stacks_id,
    c.stack_id,
    c.op_id > 0
    AND c.launch_number = min(c.launch_number) OVER (PARTITION BY c.source_id, c.capture_number, c.op_id) AS begins_call
FROM captured_launch c
LEFT JOIN chain x ON x.leaf_op_id = c.op_id
LEFT JOIN op o ON o.run_id = $run AND o.op_id = c.op_id
WHERE c.run_id = $run AND c.op_id IS NOT NULL
