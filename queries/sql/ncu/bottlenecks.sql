-- bottlenecks v4: What limits each kernel, and each graph, range and command list as a whole, that Nsight Compute profiled, with the
--     figures behind the verdict.
-- grain: one kernel, grid and block; of graphs and the like one path of ranges too
-- key: kind, kernel, grid, block
-- notes: match bound timelines ncu
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only launches in this stage, and those captured without NVTX; (none) for launches outside every stage
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   roof DOUBLE = 0.6: a kernel below this share of both peaks (compute and memory throughput) is latency-bound
--   waves DOUBLE = 0.9: a latency-bound kernel with fewer waves is limited by its grid (ncu's own rule: 1, which also flags a grid that
--     leaves a few SMs idle)
--   occupancy DOUBLE = 0.5: a latency-bound kernel with lower achieved occupancy is limited by occupancy, unless it uses tensor cores
--   margin DOUBLE = 0.05: for legacy_class: compute and DRAM throughput closer than this are balanced
--   {source}
-- columns:
--   rank: rank by time in the counted timeline, then by replay time
--   kernel: kernel name as Nsight Compute spells it; of a graph, range or command list, which has no name, what it is and its
--     ranges: (graph) decode
--   bound: what limits it: latency, memory, compute or unknown
--   limiter: limiting unit or resource: dram, l2, l1; tensor, fp32, fp64, lsu, issue, ...; for a latency-bound kernel grid (too small),
--     occupancy (too low; never for kernels on tensor cores, which need few warps) or the largest warp stall reason
--   sm_ratio: compute throughput as a share of peak, mean over the launches
--   memory_ratio: memory throughput as a share of peak, from ncu's summary metric (gpu__compute_memory_throughput): the highest of selected
--     DRAM, L2 and L1 metrics. l2_ratio and l1_ratio use more metrics and can be higher
--   dram_ratio: DRAM throughput as a share of peak
--   occupancy_ratio: achieved occupancy
--   waves: full waves of blocks over all SMs
--   launches: profiled launches
--   replayed_mean_ns: mean duration in the ncu replay
--   timeline_total_ns: time of this kernel, grid and block in the measured passes of the timeline; NULL when they have none
--   stall: largest stall reason between two instructions of a warp; NULL when not measured
--   stall_cycles: cycles per issued instruction that a warp stalls for this reason
--   evidence: metric that shows the limiter; NULL when not measured
--   missing: metrics missing for bound or limiter, as ncu --metrics takes them; NULL when none is missing
--   grid: grid size in blocks, x * y * z
--   block: block size in threads, x * y * z
--   l2_ratio: L2 throughput as a share of peak
--   l1_ratio: L1 throughput as a share of peak
--   theoretical_occupancy_ratio: theoretical occupancy: the limit set by registers, shared memory and block size
--   kind: kernel, or what was profiled as a whole, gaps between its kernels included: graph, range or cmdlist
--   legacy_class: compute_bound, memory_bound, balanced or unknown from the difference of compute and DRAM throughput alone, for comparison
--     with older reports; it misclassifies L2-bound and latency-bound kernels

WITH whole AS (
    SELECT
        g.kind,
        concat_ws(' ', '(' || CASE g.kind WHEN 'cmdlist' THEN 'command list' ELSE g.kind END || ')', p.path) AS kernel,
        g.grid,
        g.block,
        count(*) AS launches,
        _mean(g.duration_ns) AS duration_ns,
        _mean(g.sm_ratio) AS sm_ratio,
        _mean(g.memory_ratio) AS memory_ratio,
        _mean(g.dram_ratio) AS dram_ratio,
        _mean(g.l2_ratio) AS l2_ratio,
        _mean(g.l1_ratio) AS l1_ratio,
        _mean(g.occupancy_ratio) AS occupancy_ratio,
        _bound(_mean(g.sm_ratio), _mean(g.memory_ratio), roof) AS bound,
        mode(g.sm_limiter ORDER BY g.launch_id) AS sm_limiter,
        mode(g.sm_metric ORDER BY g.launch_id) AS sm_metric,
        mode(g.memory_limiter ORDER BY g.launch_id) AS memory_limiter,
        mode(g.memory_metric ORDER BY g.launch_id) AS memory_metric
    FROM ncu_whole g LEFT JOIN range_path p ON p.run_id = g.run_id AND p.path_id = g.path_id
    WHERE g.run_id = run AND (stage IS NULL OR g.path_id IS NULL OR coalesce(g.stage, '(none)') = stage)
    GROUP BY ALL
), c AS (
    SELECT
        'kernel' AS kind,
        c.kernel,
        c.grid,
        c.block,
        c.launches,
        c.bound,
        c.limiter,
        c.evidence,
        c.missing,
        c.duration_ns,
        c.sm_ratio,
        c.memory_ratio,
        c.dram_ratio,
        c.l2_ratio,
        c.l1_ratio,
        c.occupancy_ratio,
        c.theoretical_occupancy_ratio,
        c.waves,
        c.stall,
        c.stall_cycles,
        c.timeline_total_ns
    FROM _ncu_class(run, roof := roof, waves := waves, occupancy := occupancy, stage := stage, source := source) c
    UNION ALL BY NAME
    SELECT
        g.kind,
        g.kernel,
        g.grid,
        g.block,
        g.launches,
        g.bound,
        CASE g.bound WHEN 'memory' THEN g.memory_limiter WHEN 'compute' THEN g.sm_limiter END AS limiter,
        CASE g.bound WHEN 'memory' THEN g.memory_metric WHEN 'compute' THEN g.sm_metric END AS evidence,
        nullif(
            concat_ws(
                ', ',
                CASE WHEN g.sm_ratio IS NULL THEN 'sm__throughput.avg.pct_of_peak_sustained_elapsed' END,
                CASE
                    WHEN g.memory_ratio IS NULL THEN 'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed'
                END
            ),
            ''
        ) AS missing,
        g.duration_ns,
        g.sm_ratio,
        g.memory_ratio,
        g.dram_ratio,
        g.l2_ratio,
        g.l1_ratio,
        g.occupancy_ratio
    FROM whole g
), r AS (
    SELECT
        row_number() OVER (
            ORDER BY c.timeline_total_ns DESC NULLS LAST, c.duration_ns * c.launches DESC NULLS LAST, c.kind = 'kernel' DESC, c.kind,
                c.kernel, c.grid, c.block
        ) AS rank,
        c.kind,
        c.kernel,
        c.grid,
        c.block,
        c.launches,
        c.bound,
        c.limiter,
        c.evidence,
        c.missing,
        c.duration_ns,
        c.sm_ratio,
        c.memory_ratio,
        c.dram_ratio,
        c.l2_ratio,
        c.l1_ratio,
        c.occupancy_ratio,
        c.theoretical_occupancy_ratio,
        c.waves,
        c.stall,
        c.stall_cycles,
        c.timeline_total_ns
    FROM c
    WHERE kernel IS NULL OR contains(lower(c.kernel), lower(kernel))
)
SELECT
    r.rank,
    r.kernel,
    r.bound,
    r.limiter,
    r.sm_ratio,
    r.memory_ratio,
    r.dram_ratio,
    r.occupancy_ratio,
    r.waves,
    r.launches,
    r.duration_ns AS replayed_mean_ns,
    r.timeline_total_ns,
    r.stall,
    r.stall_cycles,
    r.evidence,
    r.missing,
    r.grid,
    r.block,
    r.l2_ratio,
    r.l1_ratio,
    r.theoretical_occupancy_ratio,
    r.kind,
    CASE
        WHEN margin < 0 OR margin > 1 THEN error('ARGUMENT: --margin is a share: 0.05 for 5 %')
        WHEN r.sm_ratio IS NULL OR r.dram_ratio IS NULL THEN 'unknown'
        WHEN r.sm_ratio - r.dram_ratio > margin THEN 'compute_bound'
        WHEN r.sm_ratio - r.dram_ratio < -margin THEN 'memory_bound'
        ELSE 'balanced'
    END AS legacy_class
FROM r
WHERE top = 0 OR r.rank <= top
ORDER BY r.rank
