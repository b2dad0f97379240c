-- kernel_duration: Execution counts by exact duration: the basis of every kernel statistic, medians included. GPU clocks tick, so it is far
--     smaller than kernel.
-- grain: one source, GPU, range path, part of the run, kernel name, grid, block and duration
-- key: source_id, device_id, path_id, scope, kernel_name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, duration_ns
-- needs: kernel
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   path_id BIGINT: path of the ranges around the launches; 0 outside every range, NULL when they were not captured
--   scope VARCHAR: part of the run that they are of, as _scope has it: measured, warm-up, initialisation or outside
--   kernel_name_id BIGINT: kernel name
--   grid_x INTEGER: blocks in x; NULL, like the next five columns, when the capture has none
--   grid_y INTEGER: grid size in y, in blocks
--   grid_z INTEGER: grid size in z, in blocks
--   block_x INTEGER: block size in x, in threads
--   block_y INTEGER: block size in y, in threads
--   block_z INTEGER: block size in z, in threads
--   duration_ns BIGINT: execution time
--   launch_count BIGINT: executions of exactly that duration
--   register_count BIGINT: registers per thread, the most of any; NULL when unknown
--   shared_bytes BIGINT: static and dynamic shared memory per block, the most of any; NULL when unknown

SELECT
    k.source_id,
    k.device_id,
    k.path_id,
    _scope(k.is_known, k.is_warmup, k.is_before) AS scope,
    k.kernel_name_id,
    h.grid_x,
    h.grid_y,
    h.grid_z,
    h.block_x,
    h.block_y,
    h.block_z,
    k.duration_ns,
    sum(k.launch_count)::BIGINT AS launch_count,
    max(h.register_count)::BIGINT AS register_count,
    max(h.static_shared_bytes + h.dynamic_shared_bytes)::BIGINT AS shared_bytes
FROM (
    SELECT
        k.source_id,
        k.device_id,
        k.path_id,
        b.source_id IS NOT NULL AS is_known,
        c.is_warmup,
        coalesce(k.launch_start_ns, k.start_ns) < b.begin_ns AS is_before,
        k.kernel_name_id,
        k.kernel_shape_id,
        k.duration_ns,
        count(*) AS launch_count
    FROM kernel k
    LEFT JOIN measured_source b ON b.run_id = $run AND b.source_id = k.source_id
    LEFT JOIN pass_context c ON c.run_id = $run AND c.range_context_id = k.range_context_id
    WHERE k.run_id = $run
    GROUP BY k.source_id, k.device_id, k.path_id, is_known, c.is_warmup, is_before, k.kernel_name_id, k.kernel_shape_id,
        k.duration_ns
) k
LEFT JOIN kernel_shape h ON h.run_id = $run AND h.kernel_shape_id = k.kernel_shape_id
GROUP BY ALL
