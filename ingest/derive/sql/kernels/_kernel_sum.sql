-- _kernel_sum: Kernels added up by the ranges of their launches, name and launch shape: one look at every kernel for all facts that add them up.
-- grain: one source, set of ranges, GPU, kernel name, grid, block, registers, shared memory, and whether graphs launched it
-- key: source_id, range_context_id, device_id, kernel_name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, register_count, shared_bytes, is_graph
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

SELECT k.source_id, k.range_context_id, k.device_id, k.kernel_name_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.register_count,
    k.static_shared_bytes + k.dynamic_shared_bytes AS shared_bytes, k.graph_node_id IS NOT NULL AS is_graph, count(*) AS launch_count, sum(k.duration_ns)::BIGINT AS sum_ns,
    min(k.duration_ns) AS min_ns, max(k.duration_ns) AS max_ns, sum(k.duration_ns::HUGEINT * k.duration_ns) AS sum_ns2
FROM kernel k
WHERE k.run_id = $run
GROUP BY ALL
