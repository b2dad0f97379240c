-- stragglers v1: Which rank the others waited for, pass by pass: of each stage, of the ranges of a name, or in a run without stages of each step. Collectives that are not sure to be one on all ranks are left out: those without skew_ns in rank-skew.
-- grain: one pass of a stage, range of a name or step, counted on each rank
-- key: job_id, range, pass
-- notes: timelines skew
-- params:
--   run VARCHAR: the run
--   range VARCHAR = NULL: instead of passes of stages the ranges of this normalised name, e.g. step[#]
--   by VARCHAR = NULL: of ranges and steps: launch (the collectives launched in one) or time (those that ran in the time of a step, see steps); by default as in steps
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   range: the stage, or the name of the range; step for what recurs
--   pass: 1, 2, ...: the first one of each rank, the second, ...
--   slowest: the rank that the others waited for longest; GPU and process where the rank is not known
--   waited_ns: time that all ranks waited in the collectives of the pass for the one that came last, added up
--   blamed_ns: the part of it that was waiting for the slowest
--   share_ratio: blamed_ns as a share of waited_ns
--   calls: matched collectives
--   last_count: those to which the slowest came last
--   skew_mean_ns: mean distance between the first and the last rank
--   skew_max_ns: the longest
--   total_ns: execution times of the collectives, all ranks added up
--   wait_ratio: waited_ns as a share of total_ns
--   transfer_ns: execution times of the ranks that came last, added up
--   clock_error_ns: how far off a skew may be since the ranks' sources have clocks of their own; 0 within one source, NULL when not known
--   is_warmup: whether stages or step-times leaves the pass out, of any rank; NULL for ranges that are no steps
--   name: name of the range as recorded on the slowest rank; for what recurs the kernel that begins a step
--   job_id: the source that began first of the job that the ranks are of

WITH m AS (
    SELECT w.match_id, w.job_id, w.range, w.pass, w.last, any_value(w.is_warmup) AS is_warmup, any_value(w.name) AS name, any_value(w.last_start_ns) - min(w.start_ns) AS skew_ns, sum(w.wait_ns) AS wait_ns, sum(w.duration_ns) AS total_ns,
        any_value(w.duration_ns) FILTER (w.is_last) AS transfer_ns, any_value(w.error_ns) AS error_ns
    FROM _rank_pass(run, range := "range", "by" := "by", source := source) w GROUP BY w.match_id, w.job_id, w.range, w.pass, w.last
), l AS (
    SELECT m.job_id, m.range, m.pass, m.last, count(*) AS calls, sum(m.wait_ns) AS wait_ns, sum(m.skew_ns) AS skew_ns, max(m.skew_ns) AS skew_max_ns, sum(m.total_ns) AS total_ns, sum(m.transfer_ns) AS transfer_ns, max(m.error_ns) AS error_ns, count(m.error_ns) AS known, bool_or(m.is_warmup) AS is_warmup, min(m.name) AS name
    FROM m GROUP BY m.job_id, m.range, m.pass, m.last
)
SELECT l.range, l.pass, arg_min(l.last, (-l.wait_ns, l.last)) AS slowest, sum(l.wait_ns)::BIGINT AS waited_ns, max(l.wait_ns)::BIGINT AS blamed_ns, max(l.wait_ns) / nullif(sum(l.wait_ns), 0) AS share_ratio,
    sum(l.calls)::BIGINT AS calls, arg_min(l.calls, (-l.wait_ns, l.last)) AS last_count, sum(l.skew_ns) / sum(l.calls) AS skew_mean_ns, max(l.skew_max_ns) AS skew_max_ns, sum(l.total_ns)::BIGINT AS total_ns, sum(l.wait_ns) / nullif(sum(l.total_ns), 0) AS wait_ratio,
    sum(l.transfer_ns)::BIGINT AS transfer_ns, CASE WHEN sum(l.known) = sum(l.calls) THEN max(l.error_ns) END AS clock_error_ns, bool_or(l.is_warmup) AS is_warmup, arg_min(l.name, (-l.wait_ns, l.last)) AS name, l.job_id
FROM l
GROUP BY l.job_id, l.range, l.pass
ORDER BY l.job_id, min(l.pass), l.range
