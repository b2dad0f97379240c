-- top-kernels v4: Kernels by total time, as nsys' cuda_gpu_kern_sum; with what limits them where Nsight Compute profiled them.
-- grain: one kernel name, short name or family
-- key: kernel
-- notes: graph timelines left-kernels top-ncu launch
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   by VARCHAR = 'name': group by name (demangled), short (base name) or family
--   with_ncu BOOLEAN = false: show Nsight Compute results for these kernels from the same run
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   rank: rank by total time
--   kernel: kernel name, short name or family
--   calls: executions
--   total_ns: sum of the durations
--   mean_ns: mean duration
--   median_ns: median duration; mean of the middle two for an even number of calls
--   min_ns: shortest duration
--   max_ns: longest duration
--   std_ns: sample standard deviation (n-1); NULL for a single call
--   share_ratio: total_ns as a share of all rows, before top applies
--   bound [with_ncu]: what limits it: latency, memory, compute or unknown; with several grids, that of the grid with the most time in the
--     timeline; NULL when not profiled
--   limiter [with_ncu]: the unit or resource that limits it, as in bottlenecks
--   roof_ratio [with_ncu]: the higher of compute and memory throughput as a share of peak, mean over the profiled grids weighted by their
--     time in the timeline
--   profiled_ratio [with_ncu]: share of total_ns at a profiled grid and block
--   occupancy_ratio [with_ncu]: achieved occupancy, mean over the profiled grids weighted by their time in the timeline
--   profiled_count [with_ncu]: number of profiled launches
--   role: what kernels of the family do; NULL when no rule matches, (several) when the grouped names differ
--   family: kernel family by kernel_rule; NULL when no rule matches, (several) when the grouped names differ

-- Long: a timeline, sums reported in place of one, and what Nsight Compute measured are rows or columns of one table.
WITH named AS (
    SELECT
        n.kernel_name_id,
        CASE "by"
            WHEN 'name' THEN n.name
            WHEN 'short' THEN n.short_name
            WHEN 'family' THEN coalesce(c.family, '(unclassified)')
            ELSE error('ARGUMENT: --by is name, short or family')
        END AS kernel,
        c.family,
        c.role
    FROM kernel_name n
    LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id
    WHERE n.run_id = run
), label AS ( -- numbers in place of names, which are long
    SELECT
        x.kernel_name_id,
        x.kernel,
        x.family,
        x.role,
        min(x.kernel_name_id) OVER (PARTITION BY x.kernel) AS id
    FROM named x
), h AS (
    SELECT
        l.id,
        k.duration_ns,
        sum(k.launch_count)::BIGINT AS calls,
        min(l.family) AS family,
        max(l.family) AS last_family,
        min(l.role) AS role,
        max(l.role) AS last_role
    FROM _ranked_kernel(run, stage := stage, device := device, warmup := warmup, source := source) k
    JOIN label l ON l.kernel_name_id = k.kernel_name_id
    WHERE NOT k.is_left
    GROUP BY l.id, k.duration_ns
), d AS (
    SELECT
        h.id,
        h.duration_ns,
        h.calls,
        h.family,
        h.last_family,
        h.role,
        h.last_role,
        sum(h.calls) OVER (w ROWS UNBOUNDED PRECEDING) AS upto,
        sum(h.calls) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS n
    FROM h
    WINDOW w AS (PARTITION BY h.id ORDER BY h.duration_ns)
), t AS (
    SELECT
        d.id,
        sum(d.calls)::BIGINT AS calls,
        sum(d.calls * d.duration_ns)::BIGINT AS total_ns,
        _counted_median(d.duration_ns, d.upto, d.n) AS median_ns,
        min(d.duration_ns) AS min_ns,
        max(d.duration_ns) AS max_ns,
        _counted_std(d.duration_ns, d.calls) AS std_ns,
        CASE WHEN min(d.family) IS DISTINCT FROM max(d.last_family) THEN '(several)' ELSE min(d.family) END AS family,
        CASE WHEN min(d.role) IS DISTINCT FROM max(d.last_role) THEN '(several)' ELSE min(d.role) END AS role
    FROM d
    GROUP BY d.id
    UNION ALL -- they know neither stage nor GPU
    SELECT
        l.id,
        sum(r.item_count)::BIGINT,
        sum(r.total_ns)::BIGINT,
        _only(r.median_ns),
        min(r.min_ns),
        max(r.max_ns),
        _only(r.std_ns),
        CASE WHEN min(l.family) IS DISTINCT FROM max(l.family) THEN '(several)' ELSE min(l.family) END,
        CASE WHEN min(l.role) IS DISTINCT FROM max(l.role) THEN '(several)' ELSE min(l.role) END
    FROM _reported_kernel(run, source := source) r
    JOIN label l ON l.kernel_name_id = r.kernel_name_id
    WHERE stage IS NULL AND device IS NULL
    GROUP BY l.id
), ranked AS (
    SELECT
        row_number() OVER (ORDER BY t.total_ns DESC, l.kernel) AS rank,
        l.kernel,
        t.calls,
        t.total_ns,
        t.total_ns / t.calls AS mean_ns,
        t.median_ns,
        t.min_ns,
        t.max_ns,
        t.std_ns,
        t.total_ns / nullif((SELECT sum(x.total_ns) FROM t x), 0) AS share_ratio,
        t.role,
        t.family
    FROM t JOIN label l ON l.kernel_name_id = t.id
), ncu AS (
    SELECT
        CASE "by"
            WHEN 'name' THEN n.name
            WHEN 'short' THEN n.short_name
            WHEN 'family' THEN coalesce(c.family, '(unclassified)')
        END AS kernel,
        arg_max(
            struct_pack(bound := m.bound, limiter := m.limiter),
            (g.total_ns, m.kernel, g.grid, g.block)
        ) AS top_grid,
        list_sum(list(m.roof_ratio * g.total_ns ORDER BY m.roof_ratio * g.total_ns))
            / sum(g.total_ns) FILTER (m.roof_ratio IS NOT NULL) AS roof_ratio,
        list_sum(list(m.occupancy_ratio * g.total_ns ORDER BY m.occupancy_ratio * g.total_ns))
            / sum(g.total_ns) FILTER (m.occupancy_ratio IS NOT NULL) AS occupancy_ratio,
        sum(m.launches)::BIGINT AS profiled_count,
        sum(g.total_ns)::BIGINT AS profiled_ns
    FROM (
        SELECT
            t.kernel_name_id,
            t.grid,
            t.block,
            sum(t.total_ns)::BIGINT AS total_ns
        FROM ncu_timeline t
        WHERE t.run_id = run
            AND _is_asked(t.kind, t.is_counted, source)
            AND (device IS NULL OR t.device_id = device)
            AND (stage IS NULL OR t.stage = stage)
            AND _counts(t.scope, stage, warmup)
        GROUP BY t.kernel_name_id, t.grid, t.block
    ) g
    JOIN _ncu_class(run, stage := stage, source := source) m
        ON m.timeline_name_id = g.kernel_name_id AND m.grid = g.grid AND m.block = g.block
    JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = g.kernel_name_id
    LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = g.kernel_name_id
    WHERE with_ncu
    GROUP BY 1
)
SELECT
    q.rank,
    q.kernel,
    q.calls,
    q.total_ns,
    q.mean_ns,
    q.median_ns,
    q.min_ns,
    q.max_ns,
    q.std_ns,
    q.share_ratio,
    ncu.top_grid.bound,
    ncu.top_grid.limiter,
    ncu.roof_ratio,
    ncu.profiled_ns / nullif(q.total_ns, 0) AS profiled_ratio,
    ncu.occupancy_ratio,
    ncu.profiled_count,
    q.role,
    q.family
FROM ranked q LEFT JOIN ncu ON ncu.kernel = q.kernel
WHERE top = 0 OR q.rank <= top
ORDER BY q.rank
