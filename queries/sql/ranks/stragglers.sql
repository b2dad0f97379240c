-- stragglers v1: Stragglers pass by pass: which rank the others waited for, in each stage pass, in the ranges of a name, or in each step of
--     a run without stages. Excludes collectives without a certain match on all ranks (no skew_ns in rank-skew).
-- grain: one stage pass, range of a name or step, over all ranks
-- key: job_id, range, pass
-- notes: timelines skew launch
-- params:
--   run VARCHAR: the run
--   range VARCHAR = NULL: the ranges of this normalised name instead of stage passes, e.g. step[#]
--   by VARCHAR = NULL: assign collectives to ranges and steps by launch (launched in one) or time (run during the step, see steps);
--     default: as in steps
--   {source}
-- columns:
--   range: the stage, or the range name; step for periodic steps
--   pass: pass number on each rank, from 1
--   slowest: rank the others waited longest for; GPU and process when the rank is unknown
--   waited_ns: time that all ranks waited for the last one in the collectives of the pass, summed
--   blamed_ns: part of waited_ns spent waiting for the slowest rank
--   share_ratio: blamed_ns as a share of waited_ns
--   calls: number of matched collectives
--   last_count: collectives where the slowest rank was last
--   skew_mean_ns: mean skew: start of the last rank less start of the first
--   skew_max_ns: largest skew
--   total_ns: durations of the collectives, summed over ranks
--   wait_ratio: waited_ns as a share of total_ns
--   transfer_ns: durations on the ranks that were last, summed
--   clock_error_ns: uncertainty of a skew, as the ranks' sources have clocks of their own; 0 within one source, NULL when unknown
--   is_warmup: whether stages or step-times excludes the pass on any rank; NULL for ranges that are not steps
--   name: name of the range as recorded on the slowest rank; for periodic steps, the kernel that begins a step
--   job_id: the source that started first in the ranks' job

WITH m AS (
    SELECT
        w.match_id,
        w.job_id,
        w.range,
        w.pass,
        w.last,
        any_value(w.is_warmup) AS is_warmup,
        any_value(w.name) AS name,
        any_value(w.last_start_ns) - min(w.start_ns) AS skew_ns,
        sum(w.wait_ns) AS wait_ns,
        sum(w.duration_ns) AS total_ns,
        any_value(w.duration_ns) FILTER (w.is_last) AS transfer_ns,
        any_value(w.error_ns) AS error_ns
    FROM _rank_pass(run, range := "range", "by" := "by", source := source) w
    GROUP BY w.match_id, w.job_id, w.range, w.pass, w.last
), l AS (
    SELECT
        m.job_id,
        m.range,
        m.pass,
        m.last,
        count(*) AS calls,
        sum(m.wait_ns) AS wait_ns,
        sum(m.skew_ns) AS skew_ns,
        max(m.skew_ns) AS skew_max_ns,
        sum(m.total_ns) AS total_ns,
        sum(m.transfer_ns) AS transfer_ns,
        max(m.error_ns) AS error_ns,
        count(m.error_ns) AS known,
        bool_or(m.is_warmup) AS is_warmup,
        min(m.name) AS name
    FROM m
    GROUP BY m.job_id, m.range, m.pass, m.last
)
SELECT
    l.range,
    l.pass,
    arg_min(l.last, (-l.wait_ns, l.last)) AS slowest,
    sum(l.wait_ns)::BIGINT AS waited_ns,
    max(l.wait_ns)::BIGINT AS blamed_ns,
    max(l.wait_ns) / nullif(sum(l.wait_ns), 0) AS share_ratio,
    sum(l.calls)::BIGINT AS calls,
    arg_min(l.calls, (-l.wait_ns, l.last)) AS last_count,
    sum(l.skew_ns) / sum(l.calls) AS skew_mean_ns,
    max(l.skew_max_ns) AS skew_max_ns,
    sum(l.total_ns)::BIGINT AS total_ns,
    sum(l.wait_ns) / nullif(sum(l.total_ns), 0) AS wait_ratio,
    sum(l.transfer_ns)::BIGINT AS transfer_ns,
    CASE WHEN sum(l.known) = sum(l.calls) THEN max(l.error_ns) END AS clock_error_ns,
    bool_or(l.is_warmup) AS is_warmup,
    arg_min(l.name, (-l.wait_ns, l.last)) AS name,
    l.job_id
FROM l
GROUP BY l.job_id, l.range, l.pass
ORDER BY l.job_id, min(l.pass), l.range
