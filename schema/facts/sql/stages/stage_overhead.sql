-- stage_overhead: How long a stage takes without a profiler and under one, by the same clocks of prof's helper: medians of the same steady
--     executions.
-- grain: one stage and mode of profiled recordings; of a stage that none of them timed, one row of those without a profiler alone
-- key: stage, mode
-- needs: stage_execution
-- columns:
--   stage VARCHAR: the stage
--   tool VARCHAR: the tool; none where no profiled recording timed the stage
--   mode VARCHAR: mode of the tool; baseline then
--   clock VARCHAR: gpu (CUDA events, to the end of the stage's work on the GPU) or cpu (host clock: for work that is not waited for, the
--     time to launch it); NULL when not compared
--   alone_count BIGINT: executions without a profiler that are compared
--   alone_median_ns DOUBLE: their median time; NULL when not compared, as the next
--   alone_mean_ns DOUBLE: their mean time
--   alone_std_ns DOUBLE: sample standard deviation (n-1) of these; NULL for fewer than two
--   profiled_count BIGINT: executions under the profiler that are compared
--   profiled_median_ns DOUBLE: their median time
--   profiled_mean_ns DOUBLE: their mean time
--   profiled_std_ns DOUBLE: sample standard deviation (n-1) of these; NULL for fewer than two
--   reason VARCHAR: why they are not compared: not-timed-alone, other-work (the executions differ in number of sequences or tokens, or in
--     input), window (the timeline does not have all executions), unseen-work (events do not see all work on the GPU) or warm-up (no steady
--     execution is timed on both sides); NULL where they are

WITH side AS (
    SELECT
        t.stage,
        t.tool,
        t.mode,
        bool_or(t.is_unseen) AS is_unseen,
        count(t.range_id) = 0
        AND EXISTS (
            SELECT 1
            FROM capture_source c
            WHERE c.run_id = $run
                AND c.pass_id IN (
                    SELECT u.pass_id
                    FROM _stage_timed u
                    WHERE u.stage = t.stage AND u.mode = t.mode AND u.tool = t.tool
                )
        ) AS is_window
    FROM _stage_timed t
    WHERE t.tool <> 'none'
    GROUP BY t.stage, t.tool, t.mode
), pair AS (
    SELECT
        a.stage,
        a.tool,
        a.mode,
        bool_and(a.is_alike) AS is_alike,
        any_value(a.is_gpu) AS is_gpu,
        flatten(list(a.alone_ns)) AS alone,
        flatten(list(a.profiled_ns)) AS profiled
    FROM _stage_alone a
    GROUP BY a.stage, a.tool, a.mode
), r AS (
    SELECT
        s.stage,
        s.tool,
        s.mode,
        p.is_gpu,
        p.alone,
        p.profiled,
        CASE
            WHEN NOT EXISTS (
                    SELECT 1
                    FROM _stage_timed t
                    WHERE t.stage = s.stage AND t.tool = 'none'
                )
                THEN 'not-timed-alone'
            WHEN s.is_window THEN 'window'
            WHEN p.stage IS NULL THEN 'warm-up'
            WHEN NOT p.is_alike THEN 'other-work'
            WHEN s.is_unseen AND p.is_gpu THEN 'unseen-work'
        END AS reason
    FROM side s LEFT JOIN pair p ON p.stage = s.stage AND p.tool = s.tool AND p.mode = s.mode
    UNION ALL
    SELECT
        a.stage,
        'none',
        'baseline',
        a.is_gpu,
        list(CASE WHEN a.is_gpu THEN a.gpu_ns ELSE a.cpu_ns END),
        [],
        NULL
    FROM (
        SELECT
            t.stage,
            t.gpu_ns,
            t.cpu_ns,
            t.is_warmup,
            bool_or(t.gpu_ns IS NOT NULL) OVER (PARTITION BY t.stage) AS is_gpu
        FROM _stage_timed t
        WHERE t.tool = 'none'
    ) a
    WHERE NOT a.is_warmup AND (a.gpu_ns IS NOT NULL OR NOT a.is_gpu) AND a.stage NOT IN (SELECT s.stage FROM side s)
    GROUP BY a.stage, a.is_gpu
)
SELECT
    r.stage,
    r.tool,
    r.mode,
    CASE WHEN r.reason IS NULL THEN CASE WHEN r.is_gpu THEN 'gpu' ELSE 'cpu' END END AS clock,
    CASE WHEN r.reason IS NULL THEN len(r.alone) ELSE 0 END::BIGINT AS alone_count,
    CASE WHEN r.reason IS NULL THEN list_median(r.alone) END::DOUBLE AS alone_median_ns,
    CASE WHEN r.reason IS NULL THEN list_avg(r.alone) END::DOUBLE AS alone_mean_ns,
    CASE WHEN r.reason IS NULL AND len(r.alone) > 1 THEN list_stddev_samp(r.alone) END::DOUBLE AS alone_std_ns,
    CASE WHEN r.reason IS NULL THEN len(r.profiled) ELSE 0 END::BIGINT AS profiled_count,
    CASE WHEN r.reason IS NULL THEN list_median(r.profiled) END::DOUBLE AS profiled_median_ns,
    CASE WHEN r.reason IS NULL THEN list_avg(r.profiled) END::DOUBLE AS profiled_mean_ns,
    CASE WHEN r.reason IS NULL AND len(r.profiled) > 1 THEN list_stddev_samp(r.profiled) END::DOUBLE AS profiled_std_ns,
    r.reason
FROM r
