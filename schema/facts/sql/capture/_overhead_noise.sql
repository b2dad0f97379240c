-- _overhead_noise: By how much recordings under a profiler take longer than those without one, and by how much they would differ by chance.
-- grain: one tool and mode, for the whole process and for each stage
-- key: stage, tool, mode
-- needs: capture_pass
-- columns:
--   stage VARCHAR: the stage; NULL for the whole process
--   tool VARCHAR: tool of the profiled recordings
--   mode VARCHAR: mode of the tool
--   alone_ok_count BIGINT: recordings without a profiler with a time, cold ones too
--   profiled_ok_count BIGINT: the same under it
--   alone_count BIGINT: recordings without a profiler that are compared: all but cold ones
--   profiled_count BIGINT: the same under it
--   alone_median_ns DOUBLE: median of their times; where all are cold, of these
--   profiled_median_ns DOUBLE: the same under it
--   pair_count BIGINT: pairs of recordings of the same number, which ran one after the other
--   difference_ratio DOUBLE: by how much longer the profiled take: the median of the pairs, or with fewer than two by the medians of the
--     sides; NULL where nothing is compared
--   noise_ratio DOUBLE: how large that is by chance, in 95 of 100 cases at most, by how far recordings of the same side lie apart, or of
--     three pairs or more by how far these lie apart, whichever is less; NULL where no side has two recordings
--   is_noise BOOLEAN: whether the difference is less than the noise; NULL where the noise is unknown
--   low_ratio DOUBLE: without that chance the difference is this at least; NULL where the noise is unknown, as the next
--   high_ratio DOUBLE: and this at most

-- The statistics are those by which stats.Compare of prof compares passes: logarithms, Student's t, the error of medians. What grows from
-- recording to recording is between those of a side and not between pairs.
WITH time AS (
    SELECT
        t.stage,
        t.tool,
        t.mode,
        t.is_profiled,
        t.repeat_id,
        t.is_cold,
        t.ns,
        ln(t.ns) AS x
    FROM _overhead_time t
    WHERE t.ns > 0
), side AS (
    SELECT
        t.stage,
        t.tool,
        t.mode,
        t.is_profiled,
        count(*) AS ok_count,
        count(*) FILTER (NOT t.is_cold) AS item_count,
        coalesce(median(t.ns) FILTER (NOT t.is_cold), median(t.ns)) AS median_ns,
        coalesce(list_var_samp(list(t.x ORDER BY t.x) FILTER (NOT t.is_cold)), 0) AS variance
    FROM time t
    GROUP BY t.stage, t.tool, t.mode, t.is_profiled
), pair AS (
    SELECT
        a.stage,
        a.tool,
        a.mode,
        list(p.x - a.x ORDER BY p.x - a.x) AS shifts
    FROM time a
    JOIN time p
        ON p.stage IS NOT DISTINCT FROM a.stage
        AND p.tool = a.tool
        AND p.mode = a.mode
        AND p.repeat_id = a.repeat_id
    WHERE p.is_profiled AND NOT a.is_profiled AND NOT a.is_cold AND NOT p.is_cold
    GROUP BY a.stage, a.tool, a.mode
), r AS (
    SELECT
        k.stage,
        k.tool,
        k.mode,
        coalesce(a.ok_count, 0) AS alone_ok_count,
        coalesce(p.ok_count, 0) AS profiled_ok_count,
        coalesce(a.item_count, 0) AS alone_count,
        coalesce(p.item_count, 0) AS profiled_count,
        a.median_ns AS alone_median_ns,
        p.median_ns AS profiled_median_ns,
        coalesce(len(b.shifts), 0) AS pair_count,
        b.shifts,
        (a.variance * (a.item_count - 1) + p.variance * (p.item_count - 1)) / nullif(a.item_count + p.item_count - 2, 0) AS variance
    FROM (SELECT DISTINCT t.stage, t.tool, t.mode FROM _overhead_time t) k
    LEFT JOIN side a ON a.stage IS NOT DISTINCT FROM k.stage AND a.tool = k.tool AND a.mode = k.mode AND NOT a.is_profiled
    LEFT JOIN side p ON p.stage IS NOT DISTINCT FROM k.stage AND p.tool = k.tool AND p.mode = k.mode AND p.is_profiled
    LEFT JOIN pair b ON b.stage IS NOT DISTINCT FROM k.stage AND b.tool = k.tool AND b.mode = k.mode
), error AS (
    SELECT
        r.stage,
        r.tool,
        r.mode,
        r.alone_ok_count,
        r.profiled_ok_count,
        r.alone_count,
        r.profiled_count,
        r.alone_median_ns,
        r.profiled_median_ns,
        r.pair_count,
        CASE WHEN r.pair_count > 1 THEN exp(list_median(r.shifts)) ELSE r.profiled_median_ns / r.alone_median_ns END AS times,
        exp(
            least(
                _student_t(r.alone_count + r.profiled_count - 2)
                    * sqrt(r.variance * (_centre_variance(r.alone_count) + _centre_variance(r.profiled_count))),
                CASE
                    WHEN r.pair_count > 2
                        THEN _student_t(r.pair_count - 1) * sqrt(list_var_samp(r.shifts) * _centre_variance(r.pair_count))
                END
            )
        ) AS by_chance
    FROM r
)
SELECT
    e.stage,
    e.tool,
    e.mode,
    e.alone_ok_count,
    e.profiled_ok_count,
    e.alone_count,
    e.profiled_count,
    e.alone_median_ns,
    e.profiled_median_ns,
    e.pair_count,
    CASE WHEN e.alone_count > 0 AND e.profiled_count > 0 THEN e.times - 1 END AS difference_ratio,
    CASE WHEN e.alone_count > 0 AND e.profiled_count > 0 THEN e.by_chance - 1 END AS noise_ratio,
    greatest(e.times, 1 / e.times) < e.by_chance AS is_noise,
    CASE WHEN e.alone_count > 0 AND e.profiled_count > 0 THEN e.times / e.by_chance - 1 END AS low_ratio,
    CASE WHEN e.alone_count > 0 AND e.profiled_count > 0 THEN e.times * e.by_chance - 1 END AS high_ratio
FROM error e
