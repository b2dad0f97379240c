-- rank-passes v1: How late each rank came to the collectives of each pass of a stage, or in a run without stages of each step. Collectives that are not sure to be one on all ranks do not count: those without skew_ns in rank-skew.
-- grain: one rank in one pass of a stage, range of a name or step
-- key: job_id, range, pass, rank
-- notes: timelines skew
-- params:
--   run VARCHAR: the run
--   range VARCHAR = NULL: instead of passes of stages the ranges of this normalised name, e.g. step[#]
--   by VARCHAR = NULL: as in slow-ranks
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   range: the stage, or the name of the range; step for what recurs
--   pass: 1, 2, ...: the first one of each rank, the second, ...
--   rank: the rank; GPU and process where its number is not known
--   late_mean_ns: mean time from the start of the first rank in a collective to the start of this one; 0 for a rank that is always first
--   late_max_ns: the longest
--   calls: its matched collectives
--   last_count: those to which it came last
--   late_ns: time that the other ranks waited for it in those, added up
--   wait_ns: time that it waited itself for ranks that came later
--   total_ns: its time in the matched collectives
--   is_warmup: whether stages or step-times leaves the pass out, of any rank; NULL for ranges that are no steps
--   device: GPU
--   clock_error_ns: how far off a start may be since the ranks' sources have clocks of their own; 0 within one source, NULL when not known
--   job_id: the source that began first of the job that the ranks are of

WITH w AS (
    SELECT w.job_id, w.range, w.pass, w.is_warmup, w.member, w.device_id, w.is_last, w.duration_ns, w.wait_ns, w.error_ns, w.start_ns - min(w.start_ns) OVER (PARTITION BY w.match_id, w.range, w.pass) AS late_ns,
        sum(w.wait_ns) OVER (PARTITION BY w.match_id, w.range, w.pass) AS waited_ns
    FROM _rank_pass(run, range := "range", "by" := "by", source := source) w
)
SELECT w.range, w.pass, w.member AS rank, avg(w.late_ns) AS late_mean_ns, max(w.late_ns) AS late_max_ns, count(*) AS calls, count(*) FILTER (w.is_last) AS last_count, coalesce(sum(w.waited_ns) FILTER (w.is_last), 0)::BIGINT AS late_ns,
    sum(w.wait_ns)::BIGINT AS wait_ns, sum(w.duration_ns)::BIGINT AS total_ns, any_value(w.is_warmup) AS is_warmup, any_value(w.device_id) AS device, CASE WHEN count(w.error_ns) = count(*) THEN max(w.error_ns) END AS clock_error_ns, w.job_id
FROM w
GROUP BY w.job_id, w.range, w.pass, w.member
ORDER BY w.job_id, array_position(['prefill', 'decode'], w.range) NULLS LAST, w.range, w.pass, w.member
