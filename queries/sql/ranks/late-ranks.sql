-- late-ranks v1: Which rank is slow: how long the others waited for each rank in collectives, over all steady passes of each stage, or over
--     the steps of a run without stages. Excludes collectives without a certain match on all ranks (no skew_ns in rank-skew).
-- grain: one rank in a stage, in the ranges of a name, or in one kind of step
-- key: job_id, range, rank
-- notes: timelines skew launch
-- params:
--   run VARCHAR: the run
--   range VARCHAR = NULL: the ranges of this normalised name instead of stage passes, e.g. step[#]
--   stage VARCHAR = NULL: only this stage, or the ranges of this name
--   by VARCHAR = NULL: as in stragglers
--   {source}
-- columns:
--   range: the stage, or the range name; step for periodic steps
--   rank: the rank; GPU and process when the rank is unknown
--   late_ns: time that the other ranks waited for it in collectives where it was last, summed over ranks
--   share_ratio: late_ns as a share of all waiting for the last rank; NULL when no rank waited
--   slowest_count: passes in which the others waited longest for it
--   pass_count: passes with matched collectives; all counts and times cover these, without the passes that stages or step-times excludes
--   most_ns: the most the others waited for it in one pass
--   pass: pass of most_ns; NULL when they never waited for it
--   last_count: collectives where it was last
--   calls: its matched collectives
--   wait_ns: time it waited itself for later ranks
--   total_ns: its time in the matched collectives
--   wait_ratio: wait_ns as a share of total_ns
--   cold_late_ns: time that the others waited for it in excluded passes
--   cold_count: excluded passes
--   device: GPU
--   clock_error_ns: uncertainty of a start time, as the ranks' sources have clocks of their own; 0 within one source, NULL when unknown
--   job_id: the source that started first in the ranks' job

WITH w AS (
    SELECT
        w.job_id,
        w.range,
        w.pass,
        coalesce(w.is_warmup, false) AS is_cold,
        w.member,
        w.last,
        w.device_id,
        w.is_last,
        w.duration_ns,
        w.wait_ns,
        w.error_ns
    FROM _rank_pass(run, range := "range", "by" := "by", source := source) w
), late AS (
    SELECT
        w.job_id,
        w.range,
        w.pass,
        w.is_cold,
        w.last,
        sum(w.wait_ns) AS late_ns
    FROM w
    GROUP BY w.job_id, w.range, w.pass, w.is_cold, w.last
), ranked AS (
    SELECT
        l.job_id,
        l.range,
        l.pass,
        l.is_cold,
        l.last,
        l.late_ns,
        row_number() OVER (PARTITION BY l.job_id, l.range, l.pass ORDER BY l.late_ns DESC, l.last) AS place
    FROM late l
), blamed AS (
    SELECT
        r.job_id,
        r.range,
        r.last,
        coalesce(sum(CASE WHEN NOT r.is_cold THEN r.late_ns END), 0) AS late_ns,
        count(CASE WHEN NOT r.is_cold AND r.place = 1 AND r.late_ns > 0 THEN 1 END) AS slowest_count,
        coalesce(max(CASE WHEN NOT r.is_cold THEN r.late_ns END), 0) AS most_ns,
        arg_min(r.pass, (-r.late_ns, r.pass)) FILTER (NOT r.is_cold AND r.late_ns > 0) AS pass,
        coalesce(sum(CASE WHEN r.is_cold THEN r.late_ns END), 0) AS cold_late_ns
    FROM ranked r
    GROUP BY r.job_id, r.range, r.last
), own AS (
    SELECT
        w.job_id,
        w.range,
        w.member,
        count(DISTINCT CASE WHEN NOT w.is_cold THEN w.pass END) AS pass_count,
        count(DISTINCT CASE WHEN w.is_cold THEN w.pass END) AS cold_count,
        count(CASE WHEN NOT w.is_cold AND w.is_last THEN 1 END) AS last_count,
        count(CASE WHEN NOT w.is_cold THEN 1 END) AS calls,
        coalesce(sum(CASE WHEN NOT w.is_cold THEN w.wait_ns END), 0) AS wait_ns,
        coalesce(sum(CASE WHEN NOT w.is_cold THEN w.duration_ns END), 0) AS total_ns,
        any_value(w.device_id) AS device_id,
        CASE WHEN count(w.error_ns) = count(*) THEN max(w.error_ns) END AS error_ns
    FROM w
    GROUP BY w.job_id, w.range, w.member
)
SELECT
    o.range,
    o.member AS rank,
    coalesce(b.late_ns, 0)::BIGINT AS late_ns,
    coalesce(b.late_ns, 0)
        / nullif(sum(coalesce(b.late_ns, 0)) OVER (PARTITION BY o.job_id, o.range), 0) AS share_ratio,
    coalesce(b.slowest_count, 0) AS slowest_count,
    o.pass_count,
    coalesce(b.most_ns, 0)::BIGINT AS most_ns,
    b.pass,
    o.last_count,
    o.calls,
    o.wait_ns::BIGINT AS wait_ns,
    o.total_ns::BIGINT AS total_ns,
    o.wait_ns / nullif(o.total_ns, 0) AS wait_ratio,
    coalesce(b.cold_late_ns, 0)::BIGINT AS cold_late_ns,
    o.cold_count,
    o.device_id AS device,
    o.error_ns AS clock_error_ns,
    o.job_id
FROM own o LEFT JOIN blamed b ON b.job_id = o.job_id AND b.range = o.range AND b.last = o.member
WHERE stage IS NULL OR o.range = stage
ORDER BY o.job_id, sum(coalesce(b.late_ns, 0)) OVER (PARTITION BY o.job_id, o.range) DESC, o.range,
    coalesce(b.late_ns, 0) DESC, o.member
