-- overhead v2: Profiling overhead: times under a profiler compared with recordings without one, of the workload's process and of each stage
--     that prof's helper timed.
-- grain: one mode of profiled recordings, for the whole process and for each stage
-- key: mode, stage
-- notes: capture overhead
-- params:
--   run VARCHAR: the run
-- columns:
--   mode: mode of the tool: light, deep, kernels or operators
--   stage: the stage, by stage_rule; NULL for the whole process of the workload
--   tool: the tool
--   overhead_ratio: (workload_median_ns - baseline_median_ns) / baseline_median_ns: 0 for none, negative when profiled recordings were
--     faster; NULL without a baseline
--   baseline_median_ns: median time without a profiler, robust to a first recording with cold caches: of the process, or of the stage's
--     steady executions; NULL without a baseline
--   workload_median_ns: median time under the profiler, of the same; NULL without one
--   clock: process (start to end of the process), gpu (CUDA events around the stage: from the opening of its range, or the end of the work
--     queued before it, to the end of its work on the GPU) or cpu (host clock: for work that is not waited for, the time to launch it);
--     NULL when a stage is not compared
--   reason: why a stage is not compared: not-timed-alone, other-work (its executions differ in sequences, tokens or input), window (the
--     timeline does not have all of its executions), unseen-work (GPU work on streams that the events do not see) or warm-up (no steady
--     execution on both sides); NULL otherwise
--   baseline_count: successful recordings without a profiler; of a stage, its executions in them that are compared
--   baseline_mean_ns: mean time in them; NULL without a baseline
--   baseline_std_ns: sample standard deviation (n-1) of these; NULL for fewer than two
--   pass_count: successful recordings of the mode, failed ones excluded; of a stage, its executions in them that are compared
--   workload_mean_ns: mean time in them; NULL without one
--   workload_std_ns: sample standard deviation (n-1) of these; NULL for fewer than two

-- A recording of a job of several nodes takes as long as on the slowest of them.
WITH p AS (
    SELECT
        p.mode,
        p.tool,
        min(p.pass_id) AS pass_id,
        CASE WHEN bool_and(p.status = 'ok' AND p.workload_ns IS NOT NULL) THEN max(p.workload_ns) END AS ns
    FROM capture_pass p
    WHERE p.run_id = run
    GROUP BY p.mode, p.tool, p.repeat_id
), b AS (
    SELECT
        count(p.ns) AS baseline_count,
        median(p.ns) AS baseline_median_ns,
        avg(p.ns) AS baseline_mean_ns,
        _std(p.ns) AS baseline_std_ns
    FROM p
    WHERE p.tool = 'none'
), m AS (
    SELECT
        p.mode,
        p.tool,
        min(p.pass_id) AS place,
        count(p.ns) AS pass_count,
        median(p.ns) AS workload_median_ns,
        avg(p.ns) AS workload_mean_ns,
        _std(p.ns) AS workload_std_ns
    FROM p
    WHERE p.tool <> 'none'
    GROUP BY p.mode, p.tool
), q AS (
    SELECT
        m.place,
        m.mode,
        NULL::VARCHAR AS stage,
        m.tool,
        'process' AS clock,
        NULL::VARCHAR AS reason,
        b.baseline_count,
        b.baseline_median_ns,
        b.baseline_mean_ns,
        b.baseline_std_ns,
        m.pass_count,
        m.workload_median_ns,
        m.workload_mean_ns,
        m.workload_std_ns
    FROM m CROSS JOIN b
    UNION ALL
    SELECT
        m.place,
        o.mode,
        o.stage,
        o.tool,
        o.clock,
        o.reason,
        o.alone_count,
        o.alone_median_ns,
        o.alone_mean_ns,
        o.alone_std_ns,
        o.profiled_count,
        o.profiled_median_ns,
        o.profiled_mean_ns,
        o.profiled_std_ns
    FROM stage_overhead o JOIN m ON m.mode = o.mode AND m.tool = o.tool
    WHERE o.run_id = run
)
SELECT
    q.mode,
    q.stage,
    q.tool,
    (q.workload_median_ns - q.baseline_median_ns) / nullif(q.baseline_median_ns, 0) AS overhead_ratio,
    q.baseline_median_ns,
    q.workload_median_ns,
    q.clock,
    q.reason,
    q.baseline_count,
    q.baseline_mean_ns,
    q.baseline_std_ns,
    q.pass_count,
    q.workload_mean_ns,
    q.workload_std_ns
FROM q
ORDER BY q.place, q.tool, q.stage IS NOT NULL, array_position(['prefill', 'decode'], q.stage) NULLS LAST, q.stage
