-- rank-skew v1: Arrival skew of the ranks at each collective: which rank is last, and how long the others wait. Collectives of a kind are
--     matched in order within a communicator; where ranks have different numbers of them, at the alignment that makes most of them run at
--     the same time. Warm-up counts too: passes are not told apart yet.
-- grain: one matched collective
-- key: match_id
-- notes: timelines skew warm launch
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only collectives launched in this stage; (none) for those outside every stage
--   top BIGINT = 20: maximum collectives, largest skew first; 0 for all
--   {source}
-- columns:
--   match_id: number of the matched collective
--   operation: all-reduce, ...; NULL when neither the call nor the family has it
--   stage: stage in which the last rank, by the clocks, launched it; (none) outside every stage
--   skew_ns: start of the last rank less start of the first; NULL without a certain match: see reason
--   last: rank that started last; GPU and process when the rank is unknown; NULL when skew_ns is
--   waited_ns: time that the other ranks spent in it before the last one started, summed; NULL when skew_ns is
--   transfer_ns: duration on the last rank: time of the collective without waiting; NULL when skew_ns is
--   rank_count: matched ranks
--   bus_bytes_per_s: bus bandwidth of the transfer, as in collectives; NULL when bytes or ranks are unknown, or when skew_ns is
--   reason: why skew_ns is unknown: apart (the ranks were never in it at the same time), apart-uneven (and they have different numbers of
--     collectives), hosts-apart (the clock of a rank's machine is not aligned: see clock-offsets) or within-error (the last rank was later
--     than those of other machines by no more than clock_error_ns); NULL when it is known
--   start_ns: start of the first rank, on the clock of the job's first source
--   last_start_ns: start of the last rank
--   end_spread_ns: end on the last rank to end less end on the first; NULL when skew_ns is
--   clock_error_ns: uncertainty of the skew, as the ranks' sources have clocks of their own: see clock-offsets; 0 within one source, NULL
--     when unknown
--   is_joint: whether all ranks were in it at the same time, within clock_error_ns. Only broadcast, reduce, gather and scatter can match
--     without that
--   total_bytes: the larger of the bytes a rank sends and receives; NULL when unknown
--   family: kernel family by kernel_rule; NULL when no rule matches

WITH g AS (
    SELECT
        w.match_id,
        any_value(w.operation) AS operation,
        coalesce(any_value(s.stage) FILTER (w.is_last), '(none)') AS stage,
        any_value(w.last_start_ns) - min(w.start_ns) AS skew_ns,
        any_value(w.member) FILTER (w.is_last) AS last,
        any_value(w.is_told) AS is_told,
        any_value(w.reason) AS reason,
        sum(w.wait_ns)::BIGINT AS waited_ns,
        any_value(w.duration_ns) FILTER (w.is_last) AS transfer_ns,
        any_value(w.rank_count) AS rank_count,
        min(w.start_ns) AS start_ns,
        any_value(w.last_start_ns) AS last_start_ns,
        max(w.start_ns + w.duration_ns) - any_value(w.first_end_ns) AS end_spread_ns,
        any_value(w.error_ns) AS error_ns,
        any_value(w.is_joint) AS is_joint,
        CASE WHEN count(w.bytes) = count(*) THEN max(w.bytes) END AS bytes,
        CASE WHEN min(w.group_count) = max(w.group_count) THEN min(w.group_count) END AS group_count,
        any_value(w.family) AS family
    FROM rank_wait w LEFT JOIN path_stage s ON s.run_id = w.run_id AND s.path_id = w.path_id
    WHERE w.run_id = run
        AND w.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND w.rank_count > 1
        AND w.start_ns IS NOT NULL
    GROUP BY w.match_id
)
SELECT
    g.match_id,
    g.operation,
    g.stage,
    CASE WHEN g.is_told THEN g.skew_ns END AS skew_ns,
    CASE WHEN g.is_told THEN g.last END AS last,
    g.waited_ns,
    CASE WHEN g.is_told THEN g.transfer_ns END AS transfer_ns,
    g.rank_count,
    CASE WHEN g.is_told THEN g.bytes / nullif(g.transfer_ns, 0) END
        * 1e9
        * _bus_factor(g.operation, g.group_count) AS bus_bytes_per_s,
    g.reason,
    g.start_ns,
    g.last_start_ns,
    CASE WHEN g.is_told THEN g.end_spread_ns END AS end_spread_ns,
    g.error_ns AS clock_error_ns,
    g.is_joint,
    g.bytes AS total_bytes,
    g.family
FROM g
WHERE stage IS NULL OR g.stage = stage
ORDER BY CASE WHEN g.is_told THEN g.skew_ns END DESC NULLS LAST, g.match_id
LIMIT CASE WHEN top = 0 THEN 9223372036854775807 ELSE top END
