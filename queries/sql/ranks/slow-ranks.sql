-- slow-ranks v1: Which rank the others waited for, pass by pass: of each stage, or of the ranges of a name. Collectives that are not sure to be one on all ranks are left out: those without skew_ns in rank-skew.
-- grain: one pass of a stage, or one range of a name, counted on each rank
-- key: job_id, range, pass
-- notes: timelines skew
-- params:
--   run VARCHAR: the run
--   range VARCHAR = NULL: instead of passes of stages the ranges of this normalised name, e.g. step[#]
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   range: the stage, or the name of the range
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
--   is_warmup: whether the pass is warm-up by a rule; NULL with a range
--   name: name of the range as recorded on the slowest rank
--   job_id: the source that began first of the job that the ranks are of

-- A collective belongs to the pass that the last rank launched it in.
WITH nth AS (
    SELECT p.range_id, p.stage AS name, p.is_ruled AS is_warmup, p.pass_id AS pass FROM stage_pass p WHERE p.run_id = run AND "range" IS NULL
    UNION ALL
    SELECT n.range_id, p.name, NULL, row_number() OVER (PARTITION BY n.source_id, n.pid ORDER BY n.start_ns, n.range_id)
    FROM nvtx_range n JOIN range_path p ON p.run_id = n.run_id AND p.path_id = n.path_id WHERE n.run_id = run AND p.name = "range"
), w AS (
    SELECT w.match_id, w.job_id, w.member, w.is_last, w.start_ns, w.last_start_ns, w.duration_ns, w.wait_ns, w.error_ns, w.range_context_id
    FROM rank_wait w
    WHERE w.run_id = run AND w.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND w.rank_count > 1 AND w.is_told
), m AS (
    SELECT w.match_id, any_value(w.job_id) AS job_id, any_value(w.member) FILTER (w.is_last) AS last, any_value(w.last_start_ns) - min(w.start_ns) AS skew_ns, sum(w.wait_ns) AS wait_ns, sum(w.duration_ns) AS total_ns, any_value(w.duration_ns) FILTER (w.is_last) AS transfer_ns,
        any_value(w.error_ns) AS error_ns, any_value(w.range_context_id) FILTER (w.is_last) AS range_context_id
    FROM w GROUP BY w.match_id
), l AS (
    SELECT m.job_id, n.name, n.pass, m.last, count(*) AS calls, sum(m.wait_ns) AS wait_ns, sum(m.skew_ns) AS skew_ns, max(m.skew_ns) AS skew_max_ns, sum(m.total_ns) AS total_ns, sum(m.transfer_ns) AS transfer_ns, max(m.error_ns) AS error_ns, count(m.error_ns) AS known, bool_or(n.is_warmup) AS is_warmup, min(r.name) AS raw_name
    FROM m JOIN range_context x ON x.run_id = run AND x.range_context_id = m.range_context_id JOIN nth n ON n.range_id = x.range_id JOIN nvtx_range r ON r.run_id = run AND r.range_id = n.range_id
    GROUP BY m.job_id, n.name, n.pass, m.last
)
SELECT l.name AS range, l.pass, arg_min(l.last, (-l.wait_ns, l.last)) AS slowest, sum(l.wait_ns)::BIGINT AS waited_ns, max(l.wait_ns)::BIGINT AS blamed_ns, max(l.wait_ns) / nullif(sum(l.wait_ns), 0) AS share_ratio,
    sum(l.calls)::BIGINT AS calls, arg_min(l.calls, (-l.wait_ns, l.last)) AS last_count, sum(l.skew_ns) / sum(l.calls) AS skew_mean_ns, max(l.skew_max_ns) AS skew_max_ns, sum(l.total_ns)::BIGINT AS total_ns, sum(l.wait_ns) / nullif(sum(l.total_ns), 0) AS wait_ratio,
    sum(l.transfer_ns)::BIGINT AS transfer_ns, CASE WHEN sum(l.known) = sum(l.calls) THEN max(l.error_ns) END AS clock_error_ns, CASE WHEN "range" IS NULL THEN bool_or(l.is_warmup) END AS is_warmup, arg_min(l.raw_name, (-l.wait_ns, l.last)) AS name, l.job_id
FROM l
GROUP BY l.job_id, l.name, l.pass
ORDER BY l.job_id, min(l.pass), l.name
