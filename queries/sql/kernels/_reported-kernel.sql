-- _reported-kernel: Kernels of the counted sources as reported in place of a timeline: by name, or by grid and block where no report of a
--     source has the names alone.
-- grain: one source, kernel name, grid and block
-- key: source_id, kernel_name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z
-- params:
--   run VARCHAR: the run
--   {source}
-- columns:
--   kernel_name_id: kernel name
--   item_count: executions
--   total_ns: sum of the durations
--   min_ns: shortest
--   max_ns: longest
--   median_ns: median as reported
--   std_ns: standard deviation as reported

SELECT r.kernel_name_id, r.item_count, r.total_ns, r.min_ns, r.max_ns, r.median_ns, r.std_ns
FROM reported_sum r
WHERE r.run_id = run
    AND r.report IN ('kernel', 'kernel_grid')
    AND r.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
QUALIFY r.report = min(r.report) OVER (PARTITION BY r.source_id)
