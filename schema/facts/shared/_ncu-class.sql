-- _ncu-class: What limits each profiled kernel, grid and block, from the means over its launches.
-- grain: one kernel, grid and block
-- key: name_id, grid, block
-- params:
--   run VARCHAR: the run
--   roof DOUBLE = 0.6: a kernel below this share of both peaks is latency-bound
--   waves DOUBLE = 0.9: a latency-bound kernel with fewer waves is limited by its grid (ncu's own rule: 1, which also flags a grid that
--     leaves a few SMs idle)
--   occupancy DOUBLE = 0.5: a latency-bound kernel with lower achieved occupancy is limited by occupancy, unless it uses tensor cores
--   stage VARCHAR = NULL: only launches in this stage, and those captured without NVTX; (none) for launches outside every stage
--   {source}
-- columns:
--   name_id: kernel name in the counted timeline, or ncu's name without one
--   kernel_name_id: kernel name as Nsight Compute spells it
--   kernel: that name
--   timeline_name_id: kernel name in the timeline; NULL when the timeline has none
--   grid: grid size in blocks, x * y * z
--   block: block size in threads, x * y * z
--   launches: profiled launches
--   bound: what limits it: latency, memory, compute or unknown
--   limiter: limiting unit or resource: dram, l2, l1; tensor, fp32, fp64, lsu, issue, ...; for a latency-bound kernel grid, occupancy or
--     the largest stall reason; NULL when not measured
--   evidence: metric that shows the limiter; NULL when not measured
--   missing: metrics missing for bound or limiter, as ncu --metrics takes them; NULL when none is missing
--   duration_ns: duration in the ncu replay
--   sm_ratio: compute throughput as a share of peak
--   memory_ratio: memory throughput as a share of peak
--   dram_ratio: DRAM throughput as a share of peak
--   l2_ratio: L2 throughput as a share of peak
--   l1_ratio: L1 throughput as a share of peak
--   roof_ratio: the higher of compute and memory throughput as a share of peak
--   occupancy_ratio: achieved occupancy
--   theoretical_occupancy_ratio: theoretical occupancy
--   waves: full waves of blocks over all SMs
--   stall: largest stall reason between two instructions of a warp; NULL when not measured
--   stall_cycles: cycles per issued instruction that a warp stalls for this reason
--   timeline_total_ns: time of this kernel, grid and block in the measured passes of the timeline, within the stage if one is selected;
--     NULL when they have none

WITH b AS (
    SELECT
        g.name_id,
        g.kernel_name_id,
        g.timeline_name_id,
        g.grid,
        g.block,
        g.launch_count AS launches,
        g.duration_ns,
        g.sm_ratio,
        g.memory_ratio,
        g.dram_ratio,
        g.l2_ratio,
        g.l1_ratio,
        g.occupancy_ratio,
        g.theoretical_occupancy_ratio,
        g.waves,
        g.stall,
        g.stall_cycles,
        g.sm_limiter,
        g.sm_metric,
        g.memory_limiter,
        g.memory_metric,
        g.timeline_total_ns,
        CASE
            WHEN occupancy < 0 OR occupancy > 1 THEN error('ARGUMENT: --occupancy is a share: 0.5 for 50 %')
            ELSE _bound(g.sm_ratio, g.memory_ratio, roof)
        END AS bound
    FROM ncu_shape g
    WHERE g.run_id = run AND g.scope IS NOT DISTINCT FROM stage AND _is_asked(g.kind, g.is_counted, source)
), c AS (
    SELECT
        b.name_id,
        b.kernel_name_id,
        b.timeline_name_id,
        b.grid,
        b.block,
        b.launches,
        b.duration_ns,
        b.sm_ratio,
        b.memory_ratio,
        b.dram_ratio,
        b.l2_ratio,
        b.l1_ratio,
        b.occupancy_ratio,
        b.theoretical_occupancy_ratio,
        b.waves,
        b.bound,
        b.stall,
        b.stall_cycles,
        b.sm_limiter,
        b.sm_metric,
        b.memory_limiter,
        b.memory_metric,
        b.timeline_total_ns,
        -- What is achieved is at most what is possible. A metric that is missing where the decision needs it leaves it open.
        CASE
            WHEN b.bound <> 'latency' OR b.waves IS NULL THEN NULL
            WHEN b.waves < waves THEN 'grid'
            WHEN b.sm_limiter = 'tensor' THEN b.stall
            WHEN least(b.occupancy_ratio, b.theoretical_occupancy_ratio) < occupancy THEN 'occupancy'
            WHEN b.occupancy_ratio >= occupancy THEN b.stall
        END AS cause
    FROM b
)
SELECT
    c.name_id,
    c.kernel_name_id,
    n.name AS kernel,
    c.timeline_name_id,
    c.grid,
    c.block,
    c.launches,
    c.bound,
    CASE c.bound
        WHEN 'latency' THEN c.cause
        WHEN 'memory' THEN c.memory_limiter
        WHEN 'compute' THEN c.sm_limiter
    END AS limiter,
    CASE c.bound
        WHEN 'memory' THEN c.memory_metric
        WHEN 'compute' THEN c.sm_metric
        WHEN 'latency'
            THEN CASE
                WHEN c.cause = 'grid' THEN 'launch__waves_per_multiprocessor'
                WHEN c.cause = 'occupancy' AND c.occupancy_ratio IS NULL THEN 'sm__maximum_warps_per_active_cycle_pct'
                WHEN c.cause = 'occupancy' THEN 'sm__warps_active.avg.pct_of_peak_sustained_active'
                WHEN c.cause IS NOT NULL
                    THEN 'smsp__average_warps_issue_stalled_' || replace(c.cause, ' ', '_') || '_per_issue_active.ratio'
            END
    END AS evidence,
    nullif(
        CASE c.bound
            WHEN 'memory'
                THEN CASE
                    WHEN c.memory_metric IS NULL
                        THEN 'breakdown:gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed'
                END
            WHEN 'compute'
                THEN CASE WHEN c.sm_metric IS NULL THEN 'breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed' END
            WHEN 'unknown'
                THEN concat_ws(
                    ', ',
                    CASE WHEN c.sm_ratio IS NULL THEN 'sm__throughput.avg.pct_of_peak_sustained_elapsed' END,
                    CASE
                        WHEN c.memory_ratio IS NULL
                            THEN 'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed'
                    END
                )
            ELSE CASE
                WHEN c.cause IS NULL
                    THEN concat_ws(
                        ', ',
                        CASE WHEN c.waves IS NULL THEN 'launch__waves_per_multiprocessor' END,
                        CASE
                            WHEN c.occupancy_ratio IS NULL THEN 'sm__warps_active.avg.pct_of_peak_sustained_active'
                        END,
                        CASE WHEN c.stall IS NULL THEN 'smsp__average_warps_issue_stalled_*_per_issue_active.ratio' END
                    )
            END
        END,
        ''
    ) AS missing,
    c.duration_ns,
    c.sm_ratio,
    c.memory_ratio,
    c.dram_ratio,
    c.l2_ratio,
    c.l1_ratio,
    greatest(c.sm_ratio, c.memory_ratio) AS roof_ratio,
    c.occupancy_ratio,
    c.theoretical_occupancy_ratio,
    c.waves,
    c.stall,
    c.stall_cycles,
    c.timeline_total_ns
FROM c JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = c.kernel_name_id
