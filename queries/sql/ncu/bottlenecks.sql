-- bottlenecks v2: What bounds each kernel that Nsight Compute profiled, with the numbers that led to it.
-- grain: one kernel, grid and block
-- key: kernel, grid, block
-- notes: match bound timelines ncu
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: rows at most; 0 for all
--   stage VARCHAR = NULL: only launches in this stage, and those captured without NVTX; (none) for those outside every stage
--   kernel VARCHAR = NULL: only kernels whose name contains this, case ignored
--   roof DOUBLE = 0.6: a kernel below this share of both roofs (compute and memory throughput) is latency-bound
--   waves DOUBLE = 0.9: a latency-bound kernel with fewer waves has too small a grid (ncu's own rule: 1, which also blames a grid that leaves a few SMs idle)
--   occupancy DOUBLE = 0.5: a latency-bound kernel with a lower achieved occupancy has too low an occupancy, unless it runs on tensor cores
--   margin DOUBLE = 0.05: of legacy_class: compute and DRAM throughput closer than this are balanced
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   rank: place by time in the counted timeline, then by replayed time
--   kernel: name as ncu spells it
--   bound: latency, memory, compute or unknown
--   limiter: what it leans on: dram, l2, l1; tensor, fp32, fp64, lsu, issue, ...; of a latency-bound one grid (too small), occupancy (too low; not said of kernels on tensor cores, which need few warps) or the greatest stall of its warps
--   sm_ratio: compute throughput of its peak, mean over the launches
--   memory_ratio: memory throughput of its peak as ncu sums it up (gpu__compute_memory_throughput): the highest of a choice of metrics of DRAM, L2 and L1; l2_ratio and l1_ratio rest on more metrics and can be higher
--   dram_ratio: DRAM throughput of its peak
--   occupancy_ratio: achieved occupancy
--   waves: full waves of blocks over all SMs
--   launches: profiled launches
--   replayed_mean_ns: mean time under Nsight Compute
--   timeline_total_ns: time of this kernel with this grid and block in the timeline; NULL when not matched
--   stall: greatest reason for stalls of a warp between two instructions; NULL when not measured
--   stall_cycles: cycles a warp is stalled for it between two instructions it issues
--   evidence: the metric that shows the limiter; NULL when not measured
--   missing: metrics that bound or limiter lack, as ncu --metrics takes them; NULL when none is
--   grid: blocks, x * y * z
--   block: threads of a block, x * y * z
--   l2_ratio: L2 throughput of its peak
--   l1_ratio: L1 throughput of its peak
--   theoretical_occupancy_ratio: occupancy that registers, shared memory and block size allow
--   legacy_class: compute_bound, memory_bound, balanced or unknown by the difference of compute and DRAM throughput alone, for comparison with older reports; it calls L2-bound and latency-bound kernels wrongly

WITH r AS (
    SELECT row_number() OVER (ORDER BY c.timeline_total_ns DESC NULLS LAST, c.duration_ns * c.launches DESC NULLS LAST, c.kernel, c.grid, c.block) AS rank,
        c.kernel, c.grid, c.block, c.launches, c.bound, c.limiter, c.evidence, c.missing, c.duration_ns, c.sm_ratio, c.memory_ratio, c.dram_ratio, c.l2_ratio,
        c.l1_ratio, c.occupancy_ratio, c.theoretical_occupancy_ratio, c.waves, c.stall, c.stall_cycles, c.timeline_total_ns
    FROM _ncu_class(run, roof := roof, waves := waves, occupancy := occupancy, stage := stage, source := source) c
    WHERE kernel IS NULL OR contains(lower(c.kernel), lower(kernel))
)
SELECT r.rank, r.kernel, r.bound, r.limiter, r.sm_ratio, r.memory_ratio, r.dram_ratio, r.occupancy_ratio, r.waves, r.launches, r.duration_ns AS replayed_mean_ns,
    r.timeline_total_ns, r.stall, r.stall_cycles, r.evidence, r.missing, r.grid, r.block, r.l2_ratio, r.l1_ratio, r.theoretical_occupancy_ratio,
    CASE WHEN margin < 0 OR margin > 1 THEN error('ARGUMENT: --margin is a share: 0.05 for 5 %') WHEN r.sm_ratio IS NULL OR r.dram_ratio IS NULL THEN 'unknown' WHEN r.sm_ratio - r.dram_ratio > margin THEN 'compute_bound'
        WHEN r.sm_ratio - r.dram_ratio < -margin THEN 'memory_bound' ELSE 'balanced' END AS legacy_class
FROM r WHERE top = 0 OR r.rank <= top
ORDER BY r.rank
