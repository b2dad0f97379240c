-- kernel-sol v1: Kernel launches that Nsight Compute profiled: how close each came to the hardware's limits, one row a launch. Times are replayed ones.
-- grain: one profiled kernel launch
-- key: launch
-- notes: ncu
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, case ignored
--   stage VARCHAR = NULL: only launches in this stage; (none) for those outside every stage
-- columns:
--   launch: number of the launch in the run; of a run with one report, ncu's ID
--   kernel: name as ncu spells it
--   stage: the stage; NULL when none
--   duration_ns: replayed execution time
--   sm_ratio: compute throughput of its peak
--   memory_ratio: memory throughput of its peak as ncu sums it up (gpu__compute_memory_throughput): the highest of a choice of metrics of DRAM, L2 and L1; l2_ratio and l1_ratio rest on more metrics and can be higher
--   dram_ratio: DRAM throughput of its peak
--   l2_ratio: L2 throughput of its peak
--   l1_ratio: L1 throughput of its peak
--   l1_hit_ratio: hits of sectors in L1
--   l2_hit_ratio: hits of sectors in L2
--   occupancy_ratio: achieved occupancy
--   theoretical_occupancy_ratio: occupancy that registers, shared memory and block size allow
--   waves: full waves of blocks over all SMs
--   register_count: registers of a thread
--   shared_bytes: shared memory of a block
--   dram_read_bytes: bytes read from DRAM
--   dram_write_bytes: bytes written to DRAM
--   dram_bytes_per_s: DRAM bandwidth achieved
--   fp64_flop: FP64 operations outside tensor cores; a multiply-add is 2
--   fp32_flop: FP32 operations; NULL on chips of capability 10 unless packed ones (FFMA2), which ncu's sections leave out, were collected too
--   fp16_flop: FP16 operations outside tensor cores, at most: compilers also move constants with HFMA2, which ncu counts as operations
--   tensor_flop: operations of the tensor cores of the types that were measured, padding included; NULL when none was
--   flop: FP64, FP32 and tensor operations together, without FP16's upper bound; NULL when one of them was not measured
--   intensity: flop per byte of DRAM traffic
--   flop_per_s: flop by the replayed time
--   sm_hz: SM clock while it ran
--   grid: blocks, x * y * z
--   block: threads of a block, x * y * z
--   range: names of its NVTX ranges, outermost first; NULL outside every range
--   source_id: the source

SELECT _id_number(l.launch_id) - 1 AS launch, l.kernel, l.stage, l.duration_ns, l.sm_ratio, l.memory_ratio, l.dram_ratio, l.l2_ratio, l.l1_ratio, l.l1_hit_ratio,
    l.l2_hit_ratio, l.occupancy_ratio, l.theoretical_occupancy_ratio, l.waves, l.register_count, l.shared_bytes, l.dram_read_bytes, l.dram_write_bytes,
    l.dram_bytes_per_s, l.fp64_flop, l.fp32_flop, l.fp16_flop, l.tensor_flop, l.flop, l.flop / nullif(l.dram_bytes, 0) AS intensity,
    l.flop / nullif(l.duration_ns, 0) * 1e9 AS flop_per_s, l.sm_hz, l.grid, l.block, l."range", l.source_id
FROM ncu_measure l
WHERE l.run_id = run AND (kernel IS NULL OR contains(lower(l.kernel), lower(kernel))) AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
ORDER BY l.launch_id
