-- _reported_grid: Kernels as reported in place of a timeline, by grid and block where a report has them; without them otherwise.
-- grain: one source, kernel name, grid and block
-- key: source_id, kernel_name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z
-- needs: reported_sum
-- columns:
--   source_id INTEGER: the source
--   kernel_name_id BIGINT: kernel name
--   grid_x INTEGER: blocks in x; NULL, like the next five columns, when no report has them
--   grid_y INTEGER: grid size in y, in blocks
--   grid_z INTEGER: grid size in z, in blocks
--   block_x INTEGER: block size in x, in threads
--   block_y INTEGER: block size in y, in threads
--   block_z INTEGER: block size in z, in threads
--   item_count BIGINT: executions
--   total_ns BIGINT: sum of their durations
--   min_ns BIGINT: shortest
--   max_ns BIGINT: longest
--   std_ns DOUBLE: standard deviation as reported

SELECT
    r.source_id,
    r.kernel_name_id,
    r.grid_x,
    r.grid_y,
    r.grid_z,
    r.block_x,
    r.block_y,
    r.block_z,
    r.item_count,
    r.total_ns,
    r.min_ns,
    r.max_ns,
    r.std_ns
FROM reported_sum r
WHERE r.run_id = $run AND r.report IN ('kernel', 'kernel_grid')
QUALIFY r.report = max(r.report) OVER (PARTITION BY r.source_id)
