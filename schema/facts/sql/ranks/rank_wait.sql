-- rank_wait: Arrival of each rank at each matched collective, on one clock, and how long it waited for the last rank.
-- grain: one matched collective on one rank
-- key: job_id, match_id, source_id, pid, device_id
-- needs: _collective_match
-- columns:
--   match_id BIGINT: number of the matched collective within the timelines of a kind, from 1
--   job_id INTEGER: the source that started first in the ranks' job
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_id INTEGER: GPU
--   member VARCHAR: the rank as text
--   start_ns BIGINT: start on the GPU, on the clock of the job's first source; NULL when the clock offset is unknown
--   own_start_ns BIGINT: start by the source's own clock
--   duration_ns BIGINT: execution time
--   wait_ns BIGINT: time in it before the last rank started; 0 for the last rank, NULL unless is_told
--   is_last BOOLEAN: whether it started last, by the clocks
--   last_start_ns BIGINT: start of the last rank
--   first_end_ns BIGINT: end on the rank that ended first
--   rank_count BIGINT: matched ranks
--   is_joint BOOLEAN: whether all ranks were in it at the same time, within error_ns; NULL when a clock offset is unknown
--   is_told BOOLEAN: whether the match and the last rank are certain, so that start times give wait times: see reason
--   reason VARCHAR: why not: hosts-apart (a rank is on a machine whose clock is not aligned), apart (the ranks were never in it at the same
--     time), apart-uneven (and they have different numbers of collectives) or within-error (the last rank was later than those of other
--     machines by no more than error_ns); NULL when is_told
--   calls BIGINT: collectives of this kind and communicator on the rank
--   group_name VARCHAR: communicator, or the stream that stands for it
--   operation VARCHAR: all-reduce, ...; NULL when unknown
--   family VARCHAR: kernel family by kernel_rule; NULL when no rule matches
--   bytes BIGINT: the larger of the bytes a rank sends and receives; NULL when unknown
--   group_count BIGINT: ranks in the communicator; NULL when unknown
--   range_context_id BIGINT: set of ranges around the launch
--   path_id BIGINT: path of these ranges
--   error_ns BIGINT: clock uncertainty of a difference between the ranks: largest of their sources on one machine, between machines the two
--     largest of theirs added; 0 within one source, NULL when unknown
--   collective_offset_ns BIGINT: time on the clock of the job's first source when the source's clock is 0, from the ends of matched
--     collectives; NULL without any
--   collective_count BIGINT: matched collectives behind that median
--   offset_median_ns DOUBLE: median deviation of the single collectives' offsets from it
--   offset_max_ns BIGINT: largest deviation
--   is_whole BOOLEAN: whether the ranks have equally many of them
--   session_offset_ns BIGINT: the same offset from the captures' start times; NULL when a source has none
--   basis VARCHAR: offset in use: collectives or session, on another machine bounds (see host_clock); reference for the job's first source;
--     NULL when none is known

-- Collectives whose result all ranks need end on all of them at nearly the same moment. Captures that began or ended between collectives
-- have other ones first: where they are not as many, their order says nothing certain about the clocks. Ends and starts of captures tell
-- nothing of the clocks of two machines: there only bounds do, and a rank is late only by more than their error.
WITH e AS (
    SELECT
        m.match_id,
        m.job_id,
        m.source_id,
        max(m.end_ns) AS end_ns,
        bool_and(m.is_whole) AS is_whole
    FROM _collective_match m
    WHERE coalesce(m.operation NOT IN ('broadcast', 'reduce', 'gather', 'scatter'), true)
        AND m.job_id IN (SELECT x.job_id FROM _collective_match x WHERE x.source_id <> x.job_id)
    GROUP BY m.match_id, m.job_id, m.source_id
), d AS (
    SELECT
        o.source_id,
        f.end_ns - o.end_ns AS offset_ns,
        o.is_whole
    FROM e o JOIN e f ON f.match_id = o.match_id AND f.job_id = o.job_id AND f.source_id = o.job_id
    WHERE o.source_id <> o.job_id
), mid AS (
    SELECT
        d.source_id,
        median(d.offset_ns)::BIGINT AS offset_ns,
        mad(d.offset_ns)::DOUBLE AS median_ns,
        max(d.offset_ns) AS high_ns,
        min(d.offset_ns) AS low_ns,
        count(*) AS matches,
        bool_and(d.is_whole) AS is_whole
    FROM d
    GROUP BY d.source_id
), clock AS (
    SELECT
        j.source_id,
        j.job_id,
        h.host,
        x.source_id IS NOT NULL AS is_other,
        c.offset_ns AS collective_offset_ns,
        c.matches,
        c.median_ns,
        greatest(c.high_ns - c.offset_ns, c.offset_ns - c.low_ns) AS max_ns,
        c.is_whole,
        epoch_ns(s.started_at) - epoch_ns(f.started_at) AS session_offset_ns,
        CASE
            WHEN j.source_id = j.job_id THEN 'reference'
            WHEN x.source_id IS NOT NULL THEN CASE WHEN x.reason IS NULL THEN 'bounds' END
            WHEN c.is_whole AND c.matches >= 3 THEN 'collectives'
            WHEN f.started_at IS NOT NULL AND s.started_at IS NOT NULL THEN 'session'
        END AS basis,
        x.offset_ns AS bound_offset_ns,
        coalesce(x.drift_ratio, 0) AS drift_ratio,
        x.error_ns AS bound_error_ns
    FROM (SELECT DISTINCT m.source_id, m.job_id FROM _collective_match m) j
    JOIN source_host h ON h.run_id = $run AND h.source_id = j.source_id
    JOIN source s ON s.run_id = $run AND s.source_id = j.source_id
    JOIN source f ON f.run_id = s.run_id AND f.source_id = j.job_id
    LEFT JOIN mid c ON c.source_id = j.source_id
    LEFT JOIN host_clock x ON x.run_id = $run AND x.source_id = j.source_id
), t AS (
    SELECT
        m.match_id,
        m.job_id,
        m.source_id,
        m.pid,
        m.device_id,
        m.member,
        m.start_ns,
        m.operation,
        m.family,
        m.bytes,
        m.group_count,
        m.range_context_id,
        m.path_id,
        m.is_whole AS is_even,
        m.group_name,
        m.calls,
        c.collective_offset_ns,
        c.matches,
        c.median_ns,
        c.max_ns,
        c.is_whole,
        c.session_offset_ns,
        c.basis,
        CASE WHEN c.is_other THEN c.host ELSE '' END AS host,
        CASE c.basis
            WHEN 'collectives' THEN c.max_ns
            WHEN 'bounds' THEN c.bound_error_ns
            WHEN 'session' THEN 1000
        END AS own_error_ns,
        CASE c.basis
            WHEN 'reference' THEN 0
            WHEN 'collectives' THEN c.collective_offset_ns
            WHEN 'session' THEN c.session_offset_ns
            WHEN 'bounds' THEN c.bound_offset_ns
        END AS offset_ns,
        m.start_ns + offset_ns + round(m.start_ns * c.drift_ratio)::BIGINT AS at_ns,
        m.end_ns + offset_ns + round(m.end_ns * c.drift_ratio)::BIGINT AS until_ns,
        m.end_ns - m.start_ns AS duration_ns
    FROM _collective_match m JOIN clock c ON c.source_id = m.source_id
), host AS ( -- of each match the last start on each machine
    SELECT
        t.job_id,
        t.match_id,
        t.host,
        max(t.at_ns) AS last_ns,
        max(t.own_error_ns) AS error_ns
    FROM t
    GROUP BY t.job_id, t.match_id, t.host
), apart AS ( -- by how much the last machine is behind the others, and by how much that may be wrong
    SELECT
        h.job_id,
        h.match_id,
        list_sum(list(h.error_ns ORDER BY h.error_ns DESC NULLS LAST)[:2]) AS error_ns,
        bool_or(h.last_ns IS NULL) AS is_apart,
        max(h.last_ns) - list(h.last_ns ORDER BY h.last_ns DESC)[2] AS behind_ns
    FROM host h
    GROUP BY h.job_id, h.match_id
    HAVING count(*) > 1
), w AS (
    SELECT
        t.match_id,
        t.job_id,
        t.source_id,
        t.pid,
        t.device_id,
        t.member,
        t.start_ns,
        t.at_ns,
        t.until_ns,
        t.duration_ns,
        t.operation,
        t.family,
        t.bytes,
        t.group_count,
        t.range_context_id,
        t.path_id,
        t.is_even,
        t.group_name,
        t.calls,
        t.collective_offset_ns,
        t.matches,
        t.median_ns,
        t.max_ns,
        t.is_whole,
        t.session_offset_ns,
        t.basis,
        count(t.at_ns) OVER g AS rank_count,
        max(t.at_ns) OVER g AS last_start_ns,
        min(t.until_ns) OVER g AS first_end_ns,
        CASE
            WHEN min(t.source_id) OVER g = max(t.source_id) OVER g THEN 0
            WHEN a.match_id IS NOT NULL THEN coalesce(a.error_ns, 0)::BIGINT
            WHEN max(CASE WHEN t.basis = 'session' THEN 1 ELSE 0 END) OVER g = 0 THEN max(t.own_error_ns) OVER g
        END AS error_ns,
        coalesce(a.is_apart, false) AS is_apart,
        a.behind_ns,
        row_number() OVER (
            PARTITION BY t.job_id, t.match_id
            ORDER BY t.at_ns DESC NULLS LAST, t.source_id, t.pid, t.device_id
        )
            = 1 AS is_last
    FROM t LEFT JOIN apart a ON a.job_id = t.job_id AND a.match_id = t.match_id
    WINDOW g AS (PARTITION BY t.job_id, t.match_id)
), q AS (
    SELECT
        w.match_id,
        w.job_id,
        w.source_id,
        w.pid,
        w.device_id,
        w.member,
        w.start_ns,
        w.at_ns,
        w.until_ns,
        w.duration_ns,
        w.is_last,
        w.last_start_ns,
        w.first_end_ns,
        w.rank_count,
        w.operation,
        w.family,
        w.bytes,
        w.group_count,
        w.range_context_id,
        w.path_id,
        w.group_name,
        w.calls,
        w.error_ns,
        w.collective_offset_ns,
        w.matches,
        w.median_ns,
        w.max_ns,
        w.is_whole,
        w.session_offset_ns,
        w.basis,
        CASE WHEN NOT w.is_apart THEN w.last_start_ns <= w.first_end_ns + coalesce(w.error_ns, 0) END AS is_joint,
        CASE
            WHEN w.is_apart THEN 'hosts-apart'
            WHEN NOT is_joint
                AND NOT (w.is_even AND coalesce(w.operation IN ('broadcast', 'reduce', 'gather', 'scatter'), false))
                THEN CASE WHEN w.is_even THEN 'apart' ELSE 'apart-uneven' END
            WHEN w.behind_ns <= w.error_ns THEN 'within-error'
        END AS reason,
        reason IS NULL AND is_joint IS NOT NULL AS is_told
    FROM w
)
SELECT
    q.match_id,
    q.job_id,
    q.source_id,
    q.pid,
    q.device_id,
    q.member,
    q.at_ns AS start_ns,
    q.start_ns AS own_start_ns,
    q.duration_ns,
    CASE WHEN q.is_told THEN greatest(least(q.last_start_ns, q.until_ns) - q.at_ns, 0) END AS wait_ns,
    q.is_last,
    q.last_start_ns,
    q.first_end_ns,
    q.rank_count,
    q.is_joint,
    q.is_told,
    q.reason,
    q.calls,
    q.group_name,
    q.operation,
    q.family,
    q.bytes,
    q.group_count,
    q.range_context_id,
    q.path_id,
    q.error_ns,
    q.collective_offset_ns,
    q.matches AS collective_count,
    q.median_ns AS offset_median_ns,
    q.max_ns AS offset_max_ns,
    q.is_whole,
    q.session_offset_ns,
    q.basis
FROM q
