-- stage_overhead: How long a stage takes without a profiler and under one, by the same clocks of prof's helper, or of the workload:
--     medians of recordings, each the median of the same steady executions.
-- grain: one stage, tool and mode of profiled recordings; of a stage that none of them timed, one row of those without a profiler alone
-- key: stage, tool, mode
-- needs: stage_execution|_stage_given
-- columns:
--   stage VARCHAR: the stage
--   tool VARCHAR: the tool; none where no profiled recording timed the stage
--   mode VARCHAR: mode of the tool; baseline then; workload where the workload's own files have both times
--   clock VARCHAR: gpu (CUDA events, to the end of the stage's work on the GPU), cpu (host clock: for work that is not waited for, the time
--     to launch it) or workload (its own, which waits for the GPU); NULL when not compared
--   overhead_ratio DOUBLE: by how much longer it takes under the profiler: the median of pairs of recordings, or with fewer than two pairs
--     by the medians of the sides; NULL when not compared, and where it is less than the noise
--   noise_ratio DOUBLE: how large that is by chance, in 95 of 100 cases at most, by how far recordings of the same side lie apart, or of
--     three pairs or more by how far these lie apart, whichever is less; NULL where of each side there is only one
--   reason VARCHAR: why the ratio is unknown. Nothing is compared: not-timed-alone, other-work (the executions differ in number of
--     sequences or tokens, or in input), window (the timeline does not have all executions), unseen-work (events do not see all work on the
--     GPU) or warm-up (no steady execution is timed on both sides). Compared, but less than the noise: noise. NULL where it is known
--   alone_recording_count BIGINT: recordings without a profiler that are compared
--   alone_count BIGINT: executions in them
--   alone_median_ns DOUBLE: median over the recordings of the median time of their executions; NULL when not compared, as the next
--   alone_mean_ns DOUBLE: mean time of the executions
--   alone_std_ns DOUBLE: sample standard deviation (n-1) of these; NULL for fewer than two
--   profiled_recording_count BIGINT: recordings under the profiler that are compared
--   profiled_count BIGINT: executions in them
--   profiled_median_ns DOUBLE: median over the recordings of the median time of their executions
--   profiled_mean_ns DOUBLE: mean time of the executions
--   profiled_std_ns DOUBLE: sample standard deviation (n-1) of these; NULL for fewer than two
--   pair_count BIGINT: pairs of recordings, one without and one under the profiler, that ran one after the other
--   low_ratio DOUBLE: the overhead is at least this, in 95 of 100 cases, where it is known and where it is noise; NULL where the noise is
--     unknown
--   high_ratio DOUBLE: and at most this
--   is_shown BOOLEAN: of several modes of a tool, whether it is the one that stages show: with the most overhead

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
), timed AS (
    SELECT
        t.stage,
        t.repeat_id,
        CASE WHEN t.is_gpu THEN t.gpu_ns ELSE t.cpu_ns END AS ns,
        t.is_gpu
    FROM (
        SELECT
            t.stage,
            t.repeat_id,
            t.gpu_ns,
            t.cpu_ns,
            t.is_warmup,
            bool_or(t.gpu_ns IS NOT NULL) OVER (PARTITION BY t.stage) AS is_gpu
        FROM _stage_timed t
        WHERE t.tool = 'none'
    ) t
    WHERE NOT t.is_warmup AND t.stage NOT IN (SELECT s.stage FROM side s)
), alone AS (
    SELECT
        t.stage,
        t.is_gpu,
        sum(t.item_count)::BIGINT AS item_count,
        count(*) AS recording_count,
        median(t.median_ns) AS median_ns,
        flatten(list(t.times ORDER BY t.repeat_id)) AS times
    FROM (
        SELECT
            t.stage,
            t.is_gpu,
            t.repeat_id,
            count(*) AS item_count,
            median(t.ns) AS median_ns,
            list(t.ns ORDER BY t.ns) AS times
        FROM timed t
        WHERE t.ns IS NOT NULL
        GROUP BY t.stage, t.is_gpu, t.repeat_id
    ) t
    GROUP BY t.stage, t.is_gpu
), o AS (
    SELECT
        r.stage,
        r.tool,
        r.mode,
        CASE WHEN r.is_gpu THEN 'gpu' ELSE 'cpu' END AS clock,
        CASE WHEN n.is_noise IS DISTINCT FROM true THEN n.difference_ratio END AS overhead_ratio,
        n.noise_ratio,
        CASE WHEN n.is_noise THEN 'noise' END AS reason,
        n.alone_count AS alone_recording_count,
        len(r.alone) AS alone_count,
        n.alone_median_ns,
        list_avg(r.alone) AS alone_mean_ns,
        CASE WHEN len(r.alone) > 1 THEN list_stddev_samp(r.alone) END AS alone_std_ns,
        n.profiled_count AS profiled_recording_count,
        len(r.profiled) AS profiled_count,
        n.profiled_median_ns,
        list_avg(r.profiled) AS profiled_mean_ns,
        CASE WHEN len(r.profiled) > 1 THEN list_stddev_samp(r.profiled) END AS profiled_std_ns,
        n.pair_count,
        n.low_ratio,
        n.high_ratio
    FROM r
    JOIN _overhead_noise n ON n.stage = r.stage AND n.tool = r.tool AND n.mode = r.mode
    WHERE r.reason IS NULL
    UNION ALL BY NAME
    SELECT
        r.stage,
        r.tool,
        r.mode,
        r.reason,
        0 AS alone_recording_count,
        0 AS alone_count,
        0 AS profiled_recording_count,
        0 AS profiled_count,
        0 AS pair_count
    FROM r
    WHERE r.reason IS NOT NULL
    UNION ALL BY NAME
    SELECT
        a.stage,
        'none' AS tool,
        'baseline' AS mode,
        CASE WHEN a.is_gpu THEN 'gpu' ELSE 'cpu' END AS clock,
        a.recording_count AS alone_recording_count,
        a.item_count AS alone_count,
        a.median_ns AS alone_median_ns,
        list_avg(a.times) AS alone_mean_ns,
        CASE WHEN len(a.times) > 1 THEN list_stddev_samp(a.times) END AS alone_std_ns,
        0 AS profiled_recording_count,
        0 AS profiled_count,
        0 AS pair_count
    FROM alone a
    UNION ALL BY NAME
    SELECT
        g.stage,
        g.tool,
        'workload' AS mode,
        CASE WHEN g.is_alike THEN 'workload' END AS clock,
        CASE WHEN g.is_alike THEN list_median(g.profiled_ns) / list_median(g.alone_ns) - 1 END AS overhead_ratio,
        CASE WHEN NOT g.is_alike THEN 'other-work' END AS reason,
        CASE WHEN g.is_alike THEN g.recording_count ELSE 0 END AS alone_recording_count,
        CASE WHEN g.is_alike THEN len(g.alone_ns) ELSE 0 END AS alone_count,
        CASE WHEN g.is_alike THEN list_median(g.alone_ns) END AS alone_median_ns,
        CASE WHEN g.is_alike THEN list_avg(g.alone_ns) END AS alone_mean_ns,
        CASE WHEN g.is_alike AND len(g.alone_ns) > 1 THEN list_stddev_samp(g.alone_ns) END AS alone_std_ns,
        CASE WHEN g.is_alike THEN 1 ELSE 0 END AS profiled_recording_count,
        CASE WHEN g.is_alike THEN len(g.profiled_ns) ELSE 0 END AS profiled_count,
        CASE WHEN g.is_alike THEN list_median(g.profiled_ns) END AS profiled_median_ns,
        CASE WHEN g.is_alike THEN list_avg(g.profiled_ns) END AS profiled_mean_ns,
        CASE WHEN g.is_alike AND len(g.profiled_ns) > 1 THEN list_stddev_samp(g.profiled_ns) END AS profiled_std_ns,
        0 AS pair_count
    FROM _stage_given g
    WHERE NOT EXISTS (SELECT 1 FROM stage_execution e WHERE e.run_id = $run)
)
SELECT
    o.*,
    row_number() OVER (PARTITION BY o.stage, o.tool ORDER BY o.overhead_ratio DESC NULLS LAST, o.mode) = 1 AS is_shown
FROM o
