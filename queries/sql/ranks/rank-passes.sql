-- rank-passes v1: How late each rank started its collectives, pass by pass: in each stage pass, in the ranges of a name, or in each step of
--     a run without stages. Excludes collectives without a certain match on all ranks (no skew_ns in rank-skew).
-- grain: one rank in one stage pass, range of a name or step
-- key: job_id, range, pass, rank
-- notes: timelines skew launch
-- params:
--   run VARCHAR: the run
--   range VARCHAR = NULL: the ranges of this normalised name instead of stage passes, e.g. step[#]
--   by VARCHAR = NULL: assign collectives to ranges and steps by launch or time; default: as in steps
--   {source}
-- columns:
--   range: the stage, or the range name; step for periodic steps
--   pass: pass number on each rank, from 1
--   rank: the rank; GPU and process when its number is unknown
--   late_mean_ns: mean time from the first rank's start in a collective to this one's; 0 for a rank that is always first
--   late_max_ns: longest of them
--   calls: number of its matched collectives
--   last_count: collectives where it was last
--   late_ns: time that the other ranks waited for it in those, summed
--   wait_ns: time that it waited for later ranks
--   total_ns: time in its matched collectives
--   is_warmup: whether stages or step-times excludes the pass on any rank; NULL for ranges that are not steps
--   device: GPU
--   clock_error_ns: uncertainty of a start, as the ranks' sources have clocks of their own; 0 within one source, NULL when unknown
--   job_id: the source that started first in the job of these ranks

WITH w AS (
    SELECT
        w.job_id,
        w.range,
        w.pass,
        w.is_warmup,
        w.member,
        w.device_id,
        w.is_last,
        w.duration_ns,
        w.wait_ns,
        w.error_ns,
        w.start_ns - min(w.start_ns) OVER (PARTITION BY w.match_id, w.range, w.pass) AS late_ns,
        sum(w.wait_ns) OVER (PARTITION BY w.match_id, w.range, w.pass) AS waited_ns
    FROM _rank_pass(run, range := "range", "by" := "by", source := source) w
)
SELECT
    w.range,
    w.pass,
    w.member AS rank,
    avg(w.late_ns) AS late_mean_ns,
    max(w.late_ns) AS late_max_ns,
    count(*) AS calls,
    count(*) FILTER (w.is_last) AS last_count,
    coalesce(sum(w.waited_ns) FILTER (w.is_last), 0)::BIGINT AS late_ns,
    sum(w.wait_ns)::BIGINT AS wait_ns,
    sum(w.duration_ns)::BIGINT AS total_ns,
    any_value(w.is_warmup) AS is_warmup,
    any_value(w.device_id) AS device,
    CASE WHEN count(w.error_ns) = count(*) THEN max(w.error_ns) END AS clock_error_ns,
    w.job_id
FROM w
GROUP BY w.job_id, w.range, w.pass, w.member
ORDER BY w.job_id, array_position(['prefill', 'decode'], w.range) NULLS LAST, w.range, w.pass, w.member
