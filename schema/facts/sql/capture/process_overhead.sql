-- process_overhead: How long the whole process of the workload takes without a profiler and under one: medians of recordings.
-- grain: one tool and mode of profiled recordings
-- key: tool, mode
-- needs: capture_pass
-- columns:
--   tool VARCHAR: the tool
--   mode VARCHAR: mode of the tool
--   overhead_ratio DOUBLE: by how much longer it takes under the profiler; NULL with a reason
--   noise_ratio DOUBLE: the difference that recordings show by chance, as in stage_overhead
--   reason VARCHAR: why the ratio is unknown: not-timed-alone (no recording without a profiler went well), not-recorded (none under it),
--     cold (of one side the first recording of the capture went well alone, which finds no caches), one-recording (of each side one, so
--     that their noise is unknown) or noise (it is less than that); NULL where it is known
--   alone_count BIGINT: recordings without a profiler that are compared: the first of the capture never is
--   alone_median_ns DOUBLE: median of their times; where there is only the first, its time
--   alone_mean_ns DOUBLE: their mean time
--   alone_std_ns DOUBLE: sample standard deviation (n-1) of these; NULL for fewer than two
--   profiled_count BIGINT: recordings under the profiler that are compared
--   profiled_median_ns DOUBLE: median of their times; where there is only the first, its time
--   profiled_mean_ns DOUBLE: their mean time
--   profiled_std_ns DOUBLE: sample standard deviation (n-1) of these
--   pair_count BIGINT: pairs of recordings, one without and one under the profiler, that ran one after the other
--   low_ratio DOUBLE: the ratio is at least this, as in stage_overhead
--   high_ratio DOUBLE: and at most this

WITH n AS (
    SELECT
        n.tool,
        n.mode,
        n.difference_ratio,
        n.noise_ratio,
        CASE
            WHEN n.alone_ok_count = 0 THEN 'not-timed-alone'
            WHEN n.profiled_ok_count = 0 THEN 'not-recorded'
            WHEN n.alone_count = 0 OR n.profiled_count = 0 THEN 'cold'
            WHEN n.noise_ratio IS NULL THEN 'one-recording'
            WHEN n.is_noise THEN 'noise'
        END AS reason,
        n.alone_count,
        n.alone_median_ns,
        n.profiled_count,
        n.profiled_median_ns,
        n.pair_count,
        n.low_ratio,
        n.high_ratio
    FROM _overhead_noise n
    WHERE n.stage IS NULL
), spread AS (
    SELECT
        t.tool,
        t.mode,
        avg(t.ns::BIGINT) FILTER (NOT t.is_profiled) AS alone_mean_ns,
        _std(CASE WHEN NOT t.is_profiled THEN t.ns::BIGINT END) AS alone_std_ns,
        avg(t.ns::BIGINT) FILTER (t.is_profiled) AS profiled_mean_ns,
        _std(CASE WHEN t.is_profiled THEN t.ns::BIGINT END) AS profiled_std_ns
    FROM _overhead_time t
    WHERE t.stage IS NULL AND NOT t.is_cold
    GROUP BY t.tool, t.mode
)
SELECT
    n.tool,
    n.mode,
    CASE WHEN n.reason IS NULL THEN n.difference_ratio END AS overhead_ratio,
    n.noise_ratio,
    n.reason,
    n.alone_count,
    n.alone_median_ns,
    s.alone_mean_ns,
    s.alone_std_ns,
    n.profiled_count,
    n.profiled_median_ns,
    s.profiled_mean_ns,
    s.profiled_std_ns,
    n.pair_count,
    n.low_ratio,
    n.high_ratio
FROM n LEFT JOIN spread s ON s.tool = n.tool AND s.mode = n.mode
