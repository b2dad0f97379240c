-- overhead v1: How much longer the workload took under a profiler than without one: whole process, start to end.
-- grain: one mode of profiled passes
-- key: mode
-- notes: capture overhead
-- params:
--   run VARCHAR: the run
-- columns:
--   mode: what the tool was to do: light, deep, kernels or operators
--   tool: the tool
--   overhead_ratio: (workload_median_ns - baseline_median_ns) / baseline_median_ns: 0 for none, below 0 where profiled passes were faster; NULL without a baseline
--   baseline_count: passes without a tool that ended well
--   baseline_median_ns: median time of the workload's process in them, which a first pass with cold caches does not move; NULL without one
--   baseline_mean_ns: mean time of the workload's process in them; NULL without one
--   baseline_std_ns: its sample standard deviation (n-1); NULL for fewer than two
--   pass_count: passes of the mode that ended well; others have no place in these means
--   workload_median_ns: median time of the workload's process in them; NULL without one
--   workload_mean_ns: mean time of the workload's process in them; NULL without one
--   workload_std_ns: its sample standard deviation (n-1); NULL for fewer than two

WITH p AS (
    SELECT p.mode, p.tool, p.pass_id, CASE WHEN p.status = 'ok' THEN p.workload_ns END AS ns
    FROM capture_pass p WHERE p.run_id = run
), b AS (
    SELECT count(p.ns) AS baseline_count, median(p.ns) AS baseline_median_ns, avg(p.ns) AS baseline_mean_ns, _std(p.ns) AS baseline_std_ns FROM p WHERE p.tool = 'none'
), m AS (
    SELECT p.mode, p.tool, min(p.pass_id) AS place, count(p.ns) AS pass_count, median(p.ns) AS workload_median_ns, avg(p.ns) AS workload_mean_ns, _std(p.ns) AS workload_std_ns
    FROM p WHERE p.tool <> 'none' GROUP BY p.mode, p.tool
)
SELECT m.mode, m.tool, (m.workload_median_ns - b.baseline_median_ns) / nullif(b.baseline_median_ns, 0) AS overhead_ratio, b.baseline_count, b.baseline_median_ns, b.baseline_mean_ns, b.baseline_std_ns, m.pass_count, m.workload_median_ns, m.workload_mean_ns, m.workload_std_ns
FROM m CROSS JOIN b
ORDER BY m.place
