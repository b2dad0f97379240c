-- _captured_kernel: Kernels that a launch of a stream capture may be: the one that the call names, or those that the same operator launched
--     with the same inputs outside graphs.
-- grain: one kernel of what is known of a launch
-- key: label_id, kernel_name_id, kernel_shape_id
-- needs: captured_launch
-- columns:
--   label_id BIGINT: as in _captured_node
--   kernel_name_id BIGINT: kernel name
--   kernel_shape_id BIGINT: launch shape; NULL for any
--   kernel_count BIGINT: kernels with that label_id

WITH replay AS (
    SELECT a.api_name_id
    FROM api_name a
    WHERE a.run_id = $run AND contains(a.name, 'GraphLaunch')
), wanted AS (
    SELECT DISTINCT o.op_name_id, o.op_input_id
    FROM captured_launch c JOIN op o ON o.run_id = $run AND o.op_id = c.op_id
    WHERE c.run_id = $run AND c.kind = 'kernel' AND c.kernel_name_id IS NULL
), eager AS (
    SELECT
        o.op_id,
        (hash(o.op_name_id, o.op_input_id) >> 1)::BIGINT AS label_id
    FROM op o
    JOIN wanted w ON w.op_name_id = o.op_name_id AND w.op_input_id IS NOT DISTINCT FROM o.op_input_id
    WHERE o.run_id = $run AND o.self_work_count > 0
), known AS (
    SELECT DISTINCT
        (hash(c.kernel_name_id) >> 1)::BIGINT AS label_id,
        c.kernel_name_id,
        NULL::BIGINT AS kernel_shape_id
    FROM captured_launch c
    WHERE c.run_id = $run AND c.kernel_name_id IS NOT NULL
    UNION ALL
    SELECT DISTINCT e.label_id, k.kernel_name_id, k.kernel_shape_id
    FROM kernel k JOIN eager e ON e.op_id = k.op_id
    WHERE k.run_id = $run AND k.graph_node_id IS NULL AND k.launch_name_id NOT IN (SELECT r.api_name_id FROM replay r)
)
SELECT
    k.label_id,
    k.kernel_name_id,
    k.kernel_shape_id,
    count(*) OVER (PARTITION BY k.label_id) AS kernel_count
FROM known k
