-- ncu_measure: Profiled kernel launches with the measurements that show what limits them, in base units.
-- grain: one profiled kernel launch
-- key: launch_id
-- needs: ncu_launch
-- columns:
--   launch_id BIGINT: the launch
--   source_id INTEGER: the source
--   device_id INTEGER: GPU; NULL when unknown
--   device VARCHAR: GPU name; NULL when unknown
--   kernel_name_id BIGINT: kernel name as Nsight Compute spells it
--   family VARCHAR: kernel family by kernel_rule; NULL when no rule matches
--   role VARCHAR: what kernels of the family do; NULL when no rule matches
--   grid VARCHAR: grid size in blocks, x * y * z
--   block VARCHAR: block size in threads, x * y * z
--   path_id BIGINT: path of its NVTX ranges; 0 outside every range, NULL when not captured
--   stage VARCHAR: the stage; NULL outside every stage
--   duration_ns DOUBLE: duration in the ncu replay (gpu__time_duration.sum)
--   sm_ratio DOUBLE: compute throughput as a share of peak (sm__throughput)
--   sm_limiter VARCHAR: unit behind sm_ratio: tensor, fp32 (the FMA pipe), fp64, fp16, alu, xu, lsu, tex, uniform, branch, issue, other
--   sm_metric VARCHAR: metric behind sm_ratio
--   memory_ratio DOUBLE: memory throughput as a share of peak, from ncu's summary metric (gpu__compute_memory_throughput): the highest of
--     selected DRAM, L2 and L1 metrics. l2_ratio and l1_ratio use more metrics and can be higher
--   memory_limiter VARCHAR: unit behind memory_ratio: dram, l2, l1
--   memory_metric VARCHAR: metric behind memory_ratio
--   dram_ratio DOUBLE: DRAM throughput as a share of peak (gpu__dram_throughput, dram__throughput)
--   l2_ratio DOUBLE: L2 throughput as a share of peak (lts__throughput)
--   l1_ratio DOUBLE: L1 throughput as a share of peak (l1tex__throughput)
--   l1_hit_ratio DOUBLE: L1 sector hit rate
--   l2_hit_ratio DOUBLE: L2 sector hit rate
--   occupancy_ratio DOUBLE: achieved occupancy: active warps / maximum warps per SM (sm__warps_active)
--   theoretical_occupancy_ratio DOUBLE: theoretical occupancy: the limit set by registers, shared memory and block size
--   waves DOUBLE: full waves of blocks over all SMs
--   register_count BIGINT: registers per thread
--   shared_bytes BIGINT: shared memory per block, the driver's share included where known
--   dram_read_bytes DOUBLE: bytes read from DRAM
--   dram_write_bytes DOUBLE: bytes written to DRAM
--   dram_bytes DOUBLE: DRAM bytes read and written
--   dram_bytes_per_s DOUBLE: DRAM bandwidth achieved
--   dram_peak_bytes_per_s DOUBLE: peak DRAM bandwidth at the clock of the launch
--   sm_hz DOUBLE: SM clock during the replay
--   fp64_flop DOUBLE: FP64 operations outside tensor cores; a multiply-add is 2
--   fp32_flop DOUBLE: FP32 operations. NULL on compute capability 10 unless packed FFMA2 operations, which ncu's sections omit, were
--     collected too
--   fp16_flop DOUBLE: FP16 operations outside tensor cores, an upper bound: ncu also counts HFMA2 instructions that only move constants
--   tensor_flop DOUBLE: tensor core operations of the measured types, padding included; NULL when none was measured
--   flop DOUBLE: FP64, FP32 and tensor operations; FP16, an upper bound, is excluded; NULL when one of the three was not measured

SELECT
    f.launch_id,
    f.source_id,
    f.device_id,
    f.device,
    f.kernel_name_id,
    f.family,
    f.role,
    f.grid,
    f.block,
    f.path_id,
    f.stage,
    f.duration_ns,
    f.sm_ratio,
    f.sm_limiter,
    f.sm_metric,
    f.memory_ratio,
    f.memory_limiter,
    f.memory_metric,
    f.dram_ratio,
    f.l2_ratio,
    f.l1_ratio,
    f.l1_hit_ratio,
    f.l2_hit_ratio,
    f.occupancy_ratio,
    f.theoretical_occupancy_ratio,
    f.waves,
    f.register_count,
    f.shared_bytes,
    f.dram_read_bytes,
    f.dram_write_bytes,
    f.dram_bytes,
    f.dram_bytes_per_s,
    f.dram_peak_bytes_per_s,
    f.sm_hz,
    f.fp64_flop,
    f.fp32_flop,
    f.fp16_flop,
    f.tensor_flop,
    f.flop
FROM _ncu_figure f
WHERE f.kind = 'kernel'
