-- overhead v1: Profiling overhead: run time of the workload's process under a profiler, compared with a baseline without one.
-- grain: one mode of profiled recordings
-- key: mode
-- notes: capture overhead
-- params:
--   run VARCHAR: the run
-- columns:
--   mode: mode of the tool: light, deep, kernels or operators
--   tool: the tool
--   overhead_ratio: (workload_median_ns - baseline_median_ns) / baseline_median_ns: 0 for none, negative when profiled recordings were faster; NULL without a baseline
--   baseline_count: successful recordings without a profiler
--   baseline_median_ns: median run time of the workload's process in them, robust to a first recording with cold caches; NULL without a baseline
--   baseline_mean_ns: mean run time of the workload's process in them; NULL without a baseline
--   baseline_std_ns: sample standard deviation (n-1) of these; NULL for fewer than two
--   pass_count: successful recordings of the mode; failed ones are excluded
--   workload_median_ns: median run time of the workload's process in them; NULL without one
--   workload_mean_ns: mean run time of the workload's process in them; NULL without one
--   workload_std_ns: sample standard deviation (n-1) of these; NULL for fewer than two

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
