-- kernel-sol v1: Speed of light per kernel launch that Nsight Compute profiled: throughput, occupancy and FLOP as shares of the hardware's
--     limits. Times are from the ncu replay.
-- grain: one profiled kernel launch
-- key: launch
-- notes: ncu
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
-- columns:
--   launch: launch number in the run; in a run with one report, ncu's ID
--   kernel: kernel name as Nsight Compute spells it
--   stage: the stage; NULL outside every stage
--   duration_ns: duration in the ncu replay
--   sm_ratio: compute throughput as a share of peak
--   memory_ratio: memory throughput as a share of peak, from ncu's summary metric (gpu__compute_memory_throughput): the highest of selected
--     DRAM, L2 and L1 metrics. l2_ratio and l1_ratio use more metrics and can be higher
--   dram_ratio: DRAM throughput as a share of peak
--   l2_ratio: L2 throughput as a share of peak
--   l1_ratio: L1 throughput as a share of peak
--   l1_hit_ratio: L1 sector hit rate
--   l2_hit_ratio: L2 sector hit rate
--   occupancy_ratio: achieved occupancy
--   theoretical_occupancy_ratio: theoretical occupancy: the limit set by registers, shared memory and block size
--   waves: full waves of blocks over all SMs
--   register_count: registers per thread
--   shared_bytes: shared memory per block
--   dram_read_bytes: bytes read from DRAM
--   dram_write_bytes: bytes written to DRAM
--   dram_bytes_per_s: DRAM bandwidth achieved
--   fp64_flop: FP64 operations outside tensor cores; a multiply-add is 2
--   fp32_flop: FP32 operations. NULL on compute capability 10 unless packed FFMA2 operations, which ncu's sections omit, were collected too
--   fp16_flop: FP16 operations outside tensor cores, an upper bound: ncu also counts HFMA2 instructions that only move constants
--   tensor_flop: tensor core operations of the measured types, padding included; NULL when none was measured
--   flop: FP64, FP32 and tensor operations; FP16, an upper bound, is excluded; NULL when one of the three was not measured
--   intensity: arithmetic intensity: flop per byte of DRAM traffic
--   flop_per_s: flop / replay time
--   sm_hz: SM clock during the replay
--   grid: grid size in blocks, x * y * z
--   block: block size in threads, x * y * z
--   range: NVTX range names, outermost first; NULL outside every range
--   source_id: the source

SELECT
    _id_number(l.launch_id) - 1 AS launch,
    n.name AS kernel,
    l.stage,
    l.duration_ns,
    l.sm_ratio,
    l.memory_ratio,
    l.dram_ratio,
    l.l2_ratio,
    l.l1_ratio,
    l.l1_hit_ratio,
    l.l2_hit_ratio,
    l.occupancy_ratio,
    l.theoretical_occupancy_ratio,
    l.waves,
    l.register_count,
    l.shared_bytes,
    l.dram_read_bytes,
    l.dram_write_bytes,
    l.dram_bytes_per_s,
    l.fp64_flop,
    l.fp32_flop,
    l.fp16_flop,
    l.tensor_flop,
    l.flop,
    l.flop / nullif(l.dram_bytes, 0) AS intensity,
    l.flop / nullif(l.duration_ns, 0) * 1e9 AS flop_per_s,
    l.sm_hz,
    l.grid,
    l.block,
    p.path AS "range",
    l.source_id
FROM ncu_measure l
JOIN kernel_name n ON n.run_id = l.run_id AND n.kernel_name_id = l.kernel_name_id
LEFT JOIN range_path p ON p.run_id = l.run_id AND p.path_id = l.path_id
WHERE l.run_id = run
    AND (kernel IS NULL OR contains(lower(n.name), lower(kernel)))
    AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
ORDER BY l.launch_id
