-- _ncu-launch: Kernel launches that Nsight Compute profiled, with the measurements that tell what bounds them, in base units.
-- grain: one profiled kernel launch
-- key: launch_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   launch_id: the launch
--   source_id: the source
--   device_id: GPU
--   kernel_name_id: name as ncu spells it
--   kernel: that name
--   timeline_name_id: the counted timeline's name of the same kernel; NULL when it has none
--   grid: blocks, x * y * z
--   block: threads of a block, x * y * z
--   path_id: path of its NVTX ranges; 0 outside every range, NULL when not captured
--   range: names of these ranges, outermost first
--   stage: the stage; NULL when none
--   duration_ns: replayed execution time (gpu__time_duration.sum)
--   sm_ratio: compute throughput of its peak (sm__throughput)
--   memory_ratio: memory throughput of its peak as ncu sums it up (gpu__compute_memory_throughput): the highest of a choice of metrics of DRAM, L2 and L1; l2_ratio and l1_ratio rest on more metrics and can be higher
--   dram_ratio: DRAM throughput of its peak (gpu__dram_throughput, dram__throughput)
--   l2_ratio: L2 throughput of its peak (lts__throughput)
--   l1_ratio: L1 throughput of its peak (l1tex__throughput)
--   l1_hit_ratio: hits of sectors in L1
--   l2_hit_ratio: hits of sectors in L2
--   occupancy_ratio: achieved occupancy: active warps of those an SM can hold (sm__warps_active)
--   theoretical_occupancy_ratio: occupancy that registers, shared memory and block size allow
--   waves: full waves of blocks over all SMs
--   register_count: registers of a thread
--   shared_bytes: shared memory of a block, the driver's share included where it is said
--   dram_read_bytes: bytes read from DRAM
--   dram_write_bytes: bytes written to DRAM
--   dram_bytes: bytes read and written
--   dram_bytes_per_s: DRAM bandwidth achieved
--   dram_peak_bytes_per_s: DRAM bandwidth possible at the clock of the launch
--   sm_hz: SM clock while it ran

WITH v AS (
    SELECT x.launch_id,
        coalesce(max(x.value) FILTER (x.name = 'gpu__time_duration.sum'), max(x.value) FILTER (x.name = 'gpu__time_duration.avg')) AS duration_ns,
        max(x.value) FILTER (x.name = 'sm__throughput.avg.pct_of_peak_sustained_elapsed') / 100 AS sm_ratio,
        max(x.value) FILTER (x.name = 'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed') / 100 AS memory_ratio,
        coalesce(max(x.value) FILTER (x.name = 'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed'), max(x.value) FILTER (x.name = 'dram__throughput.avg.pct_of_peak_sustained_elapsed')) / 100 AS dram_ratio,
        max(x.value) FILTER (x.name = 'lts__throughput.avg.pct_of_peak_sustained_elapsed') / 100 AS l2_ratio,
        coalesce(max(x.value) FILTER (x.name = 'l1tex__throughput.avg.pct_of_peak_sustained_active'), max(x.value) FILTER (x.name = 'l1tex__throughput.avg.pct_of_peak_sustained_elapsed')) / 100 AS l1_ratio,
        max(x.value) FILTER (x.name = 'l1tex__t_sector_hit_rate.pct') / 100 AS l1_hit_ratio,
        max(x.value) FILTER (x.name = 'lts__t_sector_hit_rate.pct') / 100 AS l2_hit_ratio,
        max(x.value) FILTER (x.name = 'sm__warps_active.avg.pct_of_peak_sustained_active') / 100 AS occupancy_ratio,
        max(x.value) FILTER (x.name = 'sm__maximum_warps_per_active_cycle_pct') / 100 AS theoretical_occupancy_ratio,
        max(x.value) FILTER (x.name = 'launch__waves_per_multiprocessor') AS waves,
        max(x.value) FILTER (x.name = 'launch__registers_per_thread')::BIGINT AS register_count,
        coalesce(max(x.value) FILTER (x.name = 'launch__shared_mem_per_block'),
            max(x.value) FILTER (x.name = 'launch__shared_mem_per_block_static') + max(x.value) FILTER (x.name = 'launch__shared_mem_per_block_dynamic')
                + coalesce(max(x.value) FILTER (x.name = 'launch__shared_mem_per_block_driver'), 0))::BIGINT AS shared_bytes,
        max(x.value) FILTER (x.name = 'dram__bytes_read.sum') AS dram_read_bytes,
        max(x.value) FILTER (x.name = 'dram__bytes_write.sum') AS dram_write_bytes,
        max(x.value) FILTER (x.name = 'dram__bytes.sum') AS dram_sum_bytes,
        max(x.value) FILTER (x.name = 'dram__bytes.sum.per_second') AS dram_rate,
        max(x.value) FILTER (x.name = 'dram__bytes.sum.peak_sustained') * max(x.value) FILTER (x.name = 'dram__cycles_elapsed.avg.per_second') AS dram_peak_bytes_per_s,
        max(x.value) FILTER (x.name = 'sm__cycles_elapsed.avg.per_second') AS sm_hz
    FROM _ncu_value(run) x GROUP BY x.launch_id
), b AS (
    SELECT v.launch_id, coalesce(v.dram_sum_bytes, v.dram_read_bytes + v.dram_write_bytes, v.dram_rate * v.duration_ns / 1e9) AS dram_bytes FROM v
)
SELECT l.launch_id, l.source_id, l.device_id, l.kernel_name_id, n.name AS kernel, tn.timeline_name_id,
    _dims(l.grid_x, l.grid_y, l.grid_z) AS grid, _dims(l.block_x, l.block_y, l.block_z) AS block,
    l.path_id, p.path AS "range", s.stage, v.duration_ns, v.sm_ratio, v.memory_ratio, v.dram_ratio, v.l2_ratio, v.l1_ratio, v.l1_hit_ratio, v.l2_hit_ratio,
    v.occupancy_ratio, v.theoretical_occupancy_ratio, v.waves, v.register_count, v.shared_bytes, v.dram_read_bytes, v.dram_write_bytes,
    b.dram_bytes, coalesce(v.dram_rate, b.dram_bytes / nullif(v.duration_ns, 0) * 1e9) AS dram_bytes_per_s, v.dram_peak_bytes_per_s, v.sm_hz
FROM ncu_launch l
JOIN kernel_name n ON n.run_id = l.run_id AND n.kernel_name_id = l.kernel_name_id
LEFT JOIN _ncu_name(run, source := source) tn ON tn.kernel_name_id = l.kernel_name_id
LEFT JOIN range_path p ON p.run_id = l.run_id AND p.path_id = l.path_id
LEFT JOIN path_stage s ON s.run_id = l.run_id AND s.path_id = l.path_id
LEFT JOIN v ON v.launch_id = l.launch_id
LEFT JOIN b ON b.launch_id = l.launch_id
WHERE l.run_id = run AND l.kind = 'kernel'
