-- top-kernels v2: Kernels by total time, as nsys' cuda_gpu_kern_sum; with what bounds them where Nsight Compute profiled them.
-- grain: one kernel name, short name or family
-- key: kernel
-- notes: graph
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: rows at most; 0 for all
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   by VARCHAR = 'name': what to add up: name (demangled), short (base name) or family
--   with_ncu BOOLEAN = false: show what Nsight Compute measured of these kernels in the same run
-- columns:
--   rank: place by total time
--   kernel: name, short name or family
--   calls: executions
--   total_ns: sum of the execution times
--   mean_ns: mean execution time
--   median_ns: median execution time; of an even number of calls the mean of the middle two
--   min_ns: shortest execution
--   max_ns: longest execution
--   std_ns: sample standard deviation (n-1); NULL for a single call
--   share_ratio: total_ns as a share of all rows' total before top cuts
--   bound [with_ncu]: what bounds it: latency, memory, compute or unknown; of several grids, that of the most time in the timeline; NULL when not profiled
--   limiter [with_ncu]: what it leans on, as in bottlenecks
--   roof_ratio [with_ncu]: the higher of compute and memory throughput of their peaks, mean over the profiled grids by their time in the timeline
--   profiled_ratio [with_ncu]: share of total_ns that ran with a grid and block that was profiled
--   occupancy_ratio [with_ncu]: achieved occupancy, mean likewise
--   profiled_count [with_ncu]: profiled launches
--   role: what the family does; NULL when no rule matches, (several) when the names differ
--   family: kernel family by kernel_rule; NULL when no rule matches, (several) when the names differ

WITH grids AS (
    SELECT CASE "by" WHEN 'name' THEN n.name WHEN 'short' THEN n.short_name WHEN 'family' THEN coalesce(c.family, '(unclassified)') END AS kernel,
        t.kernel_name_id, t.grid, t.block, t.total_ns
    FROM _timeline_grid_v1(run, stage := stage, device := device) t
    JOIN kernel_name n ON n.run_id = _run_id_v1(run) AND n.kernel_name_id = t.kernel_name_id
    LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = t.kernel_name_id
    WHERE with_ncu
), ncu AS (
    SELECT g.kernel, arg_max(struct_pack(bound := m.bound, limiter := m.limiter), (g.total_ns, m.kernel, g.grid, g.block)) AS top_grid,
        list_sum(list(m.roof_ratio * g.total_ns ORDER BY m.roof_ratio * g.total_ns)) / sum(g.total_ns) FILTER (m.roof_ratio IS NOT NULL) AS roof_ratio,
        list_sum(list(m.occupancy_ratio * g.total_ns ORDER BY m.occupancy_ratio * g.total_ns)) / sum(g.total_ns) FILTER (m.occupancy_ratio IS NOT NULL) AS occupancy_ratio,
        sum(m.launches)::BIGINT AS profiled_count, sum(g.total_ns)::BIGINT AS profiled_ns
    FROM grids g JOIN _ncu_class_v1(run, stage := stage) m ON m.timeline_name_id = g.kernel_name_id AND m.grid = g.grid AND m.block = g.block
    WHERE with_ncu
    GROUP BY g.kernel
)
SELECT q.rank, q.kernel, q.calls, q.total_ns, q.mean_ns, q.median_ns, q.min_ns, q.max_ns, q.std_ns, q.share_ratio,
    ncu.top_grid.bound, ncu.top_grid.limiter, ncu.roof_ratio, ncu.profiled_ns / nullif(q.total_ns, 0) AS profiled_ratio, ncu.occupancy_ratio, ncu.profiled_count, q.role, q.family
FROM top_kernels_v1(run, top := top, stage := stage, device := device, "by" := "by") q LEFT JOIN ncu ON ncu.kernel = q.kernel
ORDER BY q.rank
