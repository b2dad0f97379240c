-- _kernel_sum: Kernels added up by the ranges of their launches, name and launch shape: one look at every kernel for all facts that add
--     them up.
-- grain: one source, set of ranges, GPU, kernel name, launch shape, and whether graphs launched it
-- key: none
-- needs: kernel
-- columns:
--   source_id INTEGER: the source
--   range_context_id BIGINT: ranges of the launches, as in kernel
--   device_id INTEGER: GPU
--   kernel_name_id BIGINT: kernel name
--   grid_x INTEGER: blocks in x; NULL, like the next five columns, when the capture has none
--   grid_y INTEGER: grid size in y, in blocks
--   grid_z INTEGER: grid size in z, in blocks
--   block_x INTEGER: block size in x, in threads
--   block_y INTEGER: block size in y, in threads
--   block_z INTEGER: block size in z, in threads
--   register_count INTEGER: registers per thread
--   shared_bytes BIGINT: shared memory per block
--   is_graph BOOLEAN: whether CUDA graphs launched it
--   launch_count BIGINT: executions
--   sum_ns BIGINT: sum of their durations
--   min_ns BIGINT: shortest
--   max_ns BIGINT: longest
--   sum_ns2 HUGEINT: sum of the squares of their times

SELECT
    k.source_id,
    k.range_context_id,
    k.device_id,
    k.kernel_name_id,
    h.grid_x,
    h.grid_y,
    h.grid_z,
    h.block_x,
    h.block_y,
    h.block_z,
    h.register_count,
    h.static_shared_bytes + h.dynamic_shared_bytes AS shared_bytes,
    k.is_graph,
    k.launch_count,
    k.sum_ns,
    k.min_ns,
    k.max_ns,
    k.sum_ns2
FROM (
    SELECT
        k.source_id,
        k.range_context_id,
        k.device_id,
        k.kernel_name_id,
        k.kernel_shape_id,
        k.graph_node_id IS NOT NULL AS is_graph,
        count(*) AS launch_count,
        sum(k.duration_ns)::BIGINT AS sum_ns,
        min(k.duration_ns) AS min_ns,
        max(k.duration_ns) AS max_ns,
        sum(k.duration_ns::HUGEINT * k.duration_ns) AS sum_ns2
    FROM kernel k
    WHERE k.run_id = $run
    GROUP BY k.source_id, k.range_context_id, k.device_id, k.kernel_name_id, k.kernel_shape_id, is_graph
) k
LEFT JOIN kernel_shape h ON h.run_id = $run AND h.kernel_shape_id = k.kernel_shape_id
