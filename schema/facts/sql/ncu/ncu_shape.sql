-- ncu_shape: Means over the profiled launches of each kernel, grid and block, over all and per stage, with the kernel's time in a timeline
--     of the same run.
-- grain: one timeline kind, scope, kernel, grid and block
-- key: kind, scope, name_id, grid, block
-- needs: ncu_launch
-- columns:
--   kind VARCHAR: timeline kind: {timelines}, whether or not the run has it
--   is_counted BOOLEAN: whether it is the counted kind; nsys in a run without a timeline
--   scope VARCHAR: launches covered: those in this stage, and those captured without NVTX; (none): those outside every stage, and those
--     captured without NVTX; NULL: all
--   name_id BIGINT: kernel name in the counted timeline, or ncu's name without one
--   kernel_name_id BIGINT: kernel name as Nsight Compute spells it; of several the first by the alphabet
--   timeline_name_id BIGINT: kernel name in the timeline; NULL when the timeline has none
--   grid VARCHAR: grid size in blocks, x * y * z
--   block VARCHAR: block size in threads, x * y * z
--   launch_count BIGINT: profiled launches
--   timeline_total_ns BIGINT: time of this kernel, grid and block in the measured passes of the timeline, within the stage of the scope;
--     NULL when they have none
--   duration_ns DOUBLE: duration in the ncu replay
--   sm_ratio DOUBLE: compute throughput as a share of peak
--   sm_limiter VARCHAR: unit behind sm_ratio in most launches, as in ncu_measure
--   sm_metric VARCHAR: metric behind sm_ratio
--   memory_ratio DOUBLE: memory throughput as a share of peak
--   memory_limiter VARCHAR: unit behind memory_ratio in most launches, as in ncu_measure
--   memory_metric VARCHAR: metric behind memory_ratio
--   dram_ratio DOUBLE: DRAM throughput as a share of peak
--   l2_ratio DOUBLE: L2 throughput as a share of peak
--   l1_ratio DOUBLE: L1 throughput as a share of peak
--   occupancy_ratio DOUBLE: achieved occupancy
--   theoretical_occupancy_ratio DOUBLE: theoretical occupancy
--   waves DOUBLE: full waves of blocks over all SMs
--   stall VARCHAR: largest stall reason between two instructions of a warp; NULL when not measured
--   stall_cycles DOUBLE: cycles per issued instruction that a warp stalls for this reason

WITH cause AS (
    SELECT
        n.metric_id,
        replace(regexp_extract(n.name, 'stalled_(.+)_per_issue_active', 1), '_', ' ') AS stall
    FROM ncu_metric_name n
    WHERE n.run_id = $run
        AND regexp_matches(n.name, '^smsp__average_warps_issue_stalled_.+_per_issue_active\.ratio$')
        AND n.name NOT LIKE '%stalled\_selected\_%' ESCAPE '\'
), reason AS (
    SELECT m.launch_id, cause.stall, m.value
    FROM ncu_metric m JOIN cause ON cause.metric_id = m.metric_id
    WHERE m.run_id = $run AND m.value IS NOT NULL
), scope AS (
    SELECT NULL::VARCHAR AS scope
    UNION
    SELECT '(none)'
    UNION
    SELECT s.stage
    FROM path_stage s
    WHERE s.run_id = $run
), spelled AS ( -- numbers in place of names, which are long
    SELECT
        n.kernel_name_id,
        row_number() OVER (ORDER BY n.name) AS nth
    FROM kernel_name n
    WHERE n.run_id = $run AND n.kernel_name_id IN (SELECT x.kernel_name_id FROM _ncu_named x)
), l AS (
    SELECT
        x.kind,
        x.is_counted,
        s.scope,
        coalesce(x.timeline_name_id, l.kernel_name_id) AS name_id,
        l.launch_id,
        l.kernel_name_id,
        n.nth AS name_nth,
        x.timeline_name_id,
        l.grid,
        l.block,
        l.duration_ns,
        l.sm_ratio,
        l.sm_limiter,
        l.sm_metric,
        l.memory_ratio,
        l.memory_limiter,
        l.memory_metric,
        l.dram_ratio,
        l.l2_ratio,
        l.l1_ratio,
        l.occupancy_ratio,
        l.theoretical_occupancy_ratio,
        l.waves
    FROM ncu_measure l
    JOIN _ncu_named x ON x.kernel_name_id = l.kernel_name_id
    JOIN spelled n ON n.kernel_name_id = l.kernel_name_id
    JOIN scope s ON s.scope IS NULL OR l.path_id IS NULL OR coalesce(l.stage, '(none)') = s.scope
    WHERE l.run_id = $run
), stalls AS (
    SELECT
        l.kind,
        l.scope,
        l.name_id,
        l.grid,
        l.block,
        reason.stall,
        _mean(reason.value) AS cycles
    FROM l JOIN reason ON reason.launch_id = l.launch_id
    GROUP BY l.kind, l.scope, l.name_id, l.grid, l.block, reason.stall
), top_stall AS (
    SELECT
        s.kind,
        s.scope,
        s.name_id,
        s.grid,
        s.block,
        arg_max(s.stall, (s.cycles, s.stall)) AS stall,
        max(s.cycles) AS stall_cycles
    FROM stalls s
    GROUP BY s.kind, s.scope, s.name_id, s.grid, s.block
), leads AS (
    SELECT
        l.kind,
        l.scope,
        l.name_id,
        l.grid,
        l.block,
        'sm' AS side,
        l.sm_limiter AS limiter,
        l.sm_metric AS metric,
        count(*) AS n
    FROM l
    WHERE l.sm_metric IS NOT NULL
    GROUP BY l.kind, l.scope, l.name_id, l.grid, l.block, l.sm_limiter, l.sm_metric
    UNION ALL
    SELECT
        l.kind,
        l.scope,
        l.name_id,
        l.grid,
        l.block,
        'memory',
        l.memory_limiter,
        l.memory_metric,
        count(*)
    FROM l
    WHERE l.memory_metric IS NOT NULL
    GROUP BY l.kind, l.scope, l.name_id, l.grid, l.block, l.memory_limiter, l.memory_metric
), lead AS (
    SELECT
        d.kind,
        d.scope,
        d.name_id,
        d.grid,
        d.block,
        arg_max(d.limiter, (d.n, d.metric)) FILTER (d.side = 'sm') AS sm_limiter,
        arg_max(d.metric, (d.n, d.metric)) FILTER (d.side = 'sm') AS sm_metric,
        arg_max(d.limiter, (d.n, d.metric)) FILTER (d.side = 'memory') AS memory_limiter,
        arg_max(d.metric, (d.n, d.metric)) FILTER (d.side = 'memory') AS memory_metric
    FROM leads d
    GROUP BY d.kind, d.scope, d.name_id, d.grid, d.block
), g AS (
    SELECT
        l.kind,
        l.is_counted,
        l.scope,
        l.name_id,
        arg_min(l.kernel_name_id, l.name_nth) AS kernel_name_id,
        min(l.timeline_name_id) AS timeline_name_id,
        l.grid,
        l.block,
        count(*) AS launch_count,
        _mean(l.duration_ns) AS duration_ns,
        _mean(l.sm_ratio) AS sm_ratio,
        _mean(l.memory_ratio) AS memory_ratio,
        _mean(l.dram_ratio) AS dram_ratio,
        _mean(l.l2_ratio) AS l2_ratio,
        _mean(l.l1_ratio) AS l1_ratio,
        _mean(l.occupancy_ratio) AS occupancy_ratio,
        _mean(l.theoretical_occupancy_ratio) AS theoretical_occupancy_ratio,
        _mean(l.waves) AS waves
    FROM l
    GROUP BY l.kind, l.is_counted, l.scope, l.name_id, l.grid, l.block
), t AS (
    SELECT
        w.kind,
        s.scope,
        w.kernel_name_id,
        w.grid,
        w.block,
        sum(w.total_ns)::BIGINT AS total_ns
    FROM ncu_timeline w JOIN scope s ON s.scope IS NULL OR s.scope = w.stage
    WHERE w.run_id = $run AND _counts(w.scope, s.scope, false)
    GROUP BY w.kind, s.scope, w.kernel_name_id, w.grid, w.block
)
SELECT
    g.kind,
    g.is_counted,
    g.scope,
    g.name_id,
    g.kernel_name_id,
    g.timeline_name_id,
    g.grid,
    g.block,
    g.launch_count,
    t.total_ns AS timeline_total_ns,
    g.duration_ns,
    g.sm_ratio,
    d.sm_limiter,
    d.sm_metric,
    g.memory_ratio,
    d.memory_limiter,
    d.memory_metric,
    g.dram_ratio,
    g.l2_ratio,
    g.l1_ratio,
    g.occupancy_ratio,
    g.theoretical_occupancy_ratio,
    g.waves,
    c.stall,
    c.stall_cycles
FROM g
LEFT JOIN top_stall c
    ON c.kind = g.kind
    AND c.scope IS NOT DISTINCT FROM g.scope
    AND c.name_id = g.name_id
    AND c.grid = g.grid
    AND c.block = g.block
LEFT JOIN lead d
    ON d.kind = g.kind
    AND d.scope IS NOT DISTINCT FROM g.scope
    AND d.name_id = g.name_id
    AND d.grid = g.grid
    AND d.block = g.block
LEFT JOIN t
    ON t.kind = g.kind
    AND t.scope IS NOT DISTINCT FROM g.scope
    AND t.kernel_name_id = g.timeline_name_id
    AND t.grid = g.grid
    AND t.block = g.block
