-- clock-offsets v1: Clock offsets between the sources of a run. Each source counts time from its own start.
-- grain: one source
-- key: source_id
-- notes: timelines
-- params:
--   run VARCHAR: the run
--   {source}
-- columns:
--   source_id: the source
--   reference_id: source whose clock is the reference: the one that started first in the job; itself for that one
--   rank: rank in the job, as the source has it; NULL when it has none
--   offset_ns: time on the reference's clock when the source's clock is 0: add it, and drift_ratio times the time, to the source's times to
--     convert them; NULL when unknown
--   basis: origin of the offset: reference; collectives, which end on all ranks at nearly the same time; session, the wall clock at the
--     start of each capture; or for a source of another machine bounds: an all-reduce, all-gather or reduce-scatter ends on no rank before
--     it has begun on every one
--   match_count: collectives matched between the two sources, or for bounds their machines; excludes those that end earlier on one rank by
--     design (broadcast, reduce, gather, scatter)
--   error_median_ns: median deviation of the single collectives' offsets from offset_ns; NULL for another basis
--   error_max_ns: largest deviation; NULL for another basis
--   session_offset_ns: offset from the wall clocks alone, accurate to 1 us on one machine, and to the machines' clock difference across
--     several; NULL when a source has no start time
--   reason: why the offset is not from collectives: no-match (none matches one of the reference), uneven-counts (the ranks have different
--     numbers of them), few-matches (fewer than 3) or no-line (of two machines: no constant drift satisfies all bounds); NULL when it is,
--     and for the reference
--   error_ns: bound on the error of converted times, during the matched collectives; NULL for another basis than bounds
--   drift_ratio: how much faster the reference's clock runs; NULL for another basis than bounds
--   host: the machine: its node in the job where known, else its name; NULL when unknown

WITH s AS (
    SELECT
        s.source_id,
        s.rank_id,
        epoch_ns(s.started_at) AS begin_ns,
        h.host,
        h.node_rank
    FROM source s LEFT JOIN source_host h ON h.run_id = s.run_id AND h.source_id = s.source_id
    WHERE s.run_id = run AND s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), w AS (
    SELECT
        w.source_id,
        any_value(w.job_id) AS job_id,
        any_value(w.basis) AS basis,
        any_value(w.collective_offset_ns) AS offset_ns,
        any_value(w.session_offset_ns) AS session_offset_ns,
        any_value(w.collective_count) AS matches,
        any_value(w.offset_median_ns) AS median_ns,
        any_value(w.offset_max_ns) AS max_ns,
        any_value(w.is_whole) AS is_whole
    FROM rank_wait w
    WHERE w.run_id = run
    GROUP BY w.source_id
), q AS ( -- sources without a matched collective are compared with the one of the run that began first, or was captured on the first node
    SELECT
        s.source_id,
        coalesce(w.job_id, f.source_id) AS reference_id,
        s.rank_id AS rank,
        s.host,
        coalesce(w.session_offset_ns, s.begin_ns - f.begin_ns) AS session_offset_ns,
        coalesce(x.offset_ns, w.offset_ns) AS offset_ns,
        coalesce(x.match_count, w.matches, 0) AS match_count,
        w.median_ns,
        w.max_ns,
        w.is_whole,
        x.drift_ratio,
        x.error_ns,
        x.reason,
        CASE
            WHEN coalesce(w.job_id, f.source_id) = s.source_id THEN 'reference'
            WHEN w.source_id IS NOT NULL THEN w.basis
            WHEN s.host <> f.host THEN NULL
            WHEN s.begin_ns - f.begin_ns IS NOT NULL THEN 'session'
        END AS basis
    FROM s
    LEFT JOIN w ON w.source_id = s.source_id
    LEFT JOIN host_clock x ON x.run_id = run AND x.source_id = s.source_id
    JOIN s f
        ON f.source_id = (
            SELECT arg_min(
                x.source_id,
                (coalesce(x.node_rank, 0), coalesce(x.begin_ns, 9223372036854775807), x.source_id)
            )
            FROM s x
        )
)
SELECT
    q.source_id,
    q.reference_id,
    q.rank,
    CASE q.basis
        WHEN 'reference' THEN 0
        WHEN 'collectives' THEN q.offset_ns
        WHEN 'bounds' THEN q.offset_ns
        WHEN 'session' THEN q.session_offset_ns
    END AS offset_ns,
    q.basis,
    q.match_count,
    CASE WHEN q.basis = 'collectives' THEN q.median_ns END AS error_median_ns,
    CASE WHEN q.basis = 'collectives' THEN q.max_ns END AS error_max_ns,
    CASE q.basis WHEN 'reference' THEN 0 ELSE q.session_offset_ns END AS session_offset_ns,
    CASE
        WHEN q.basis IN ('reference', 'collectives', 'bounds') THEN NULL
        WHEN q.match_count = 0 THEN 'no-match'
        WHEN q.reason IS NOT NULL THEN q.reason
        WHEN NOT q.is_whole THEN 'uneven-counts'
        ELSE 'few-matches'
    END AS reason,
    q.error_ns,
    q.drift_ratio,
    q.host
FROM q
ORDER BY q.source_id
