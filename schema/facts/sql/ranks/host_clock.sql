-- host_clock: Clocks of the sources of other machines than the first of their job, by bounds that matched collectives set. An all-reduce,
--     all-gather or reduce-scatter ends on no rank before it has begun on every one.
-- grain: one timeline source of another host than its job's reference, with matched collectives
-- key: source_id
-- needs: _collective_match
-- columns:
--   source_id INTEGER: the source
--   job_id INTEGER: the reference: source that started first on the first host of the job
--   host VARCHAR: the machine
--   offset_ns BIGINT: time on the reference's clock when this source's clock is 0; NULL when unknown, as the next two
--   drift_ratio DOUBLE: how much faster the reference's clock runs: its time is offset_ns + (1 + drift_ratio) * time of this source
--   error_ns BIGINT: bound on the error of such a time, during the matched collectives
--   match_count BIGINT: matched collectives that set bounds
--   reason VARCHAR: why the offset is unknown: uneven-counts (the ranks have different numbers of them), few-matches (fewer than 3) or
--     no-line (no constant drift satisfies all bounds); NULL when it is known

-- The offset of a host's clock is taken as a straight line over time, at most 500 ppm steep: as steep as the kernel lets a clock run. Of
-- each match, offset <= first end on the reference's host - last start on this one, and offset >= last start there - first end here. The
-- steepest and the flattest line between all bounds give the interval of the offset at the first and the last match; between the two it is
-- no wider than straight lines between their ends. The middle is the offset, half the width the error. Several sources of one host share
-- its clock; their starts are known to 1 us.
WITH m AS (
    SELECT
        m.job_id,
        m.match_id,
        h.host,
        f.host AS first_host,
        m.is_whole,
        m.source_id,
        m.start_ns,
        m.end_ns,
        m.operation,
        epoch_ns(s.started_at) AS begin_ns
    FROM _collective_match m
    JOIN source_host h ON h.run_id = $run AND h.source_id = m.source_id
    JOIN source_host f ON f.run_id = $run AND f.source_id = m.job_id
    JOIN source s ON s.run_id = $run AND s.source_id = m.source_id
    WHERE m.job_id IN (
            SELECT x.job_id
            FROM _collective_match x
            JOIN source_host y ON y.run_id = $run AND y.source_id = x.source_id
            JOIN source_host z ON z.run_id = $run AND z.source_id = x.job_id
            WHERE y.host <> z.host
        )
), zero AS ( -- the source whose clock is the host's
    SELECT
        m.job_id,
        m.host,
        CASE
            WHEN m.host = any_value(m.first_host) THEN m.job_id
            ELSE arg_min(m.source_id, (coalesce(m.begin_ns, 9223372036854775807), m.source_id))
        END AS source_id
    FROM m
    WHERE m.host IS NOT NULL
    GROUP BY m.job_id, m.host
), own AS (
    SELECT DISTINCT
        m.job_id,
        m.host,
        m.source_id,
        m.host = m.first_host AS is_first,
        m.source_id = z.source_id AS is_zero,
        CASE WHEN m.source_id = z.source_id THEN 0 ELSE m.begin_ns - epoch_ns(b.started_at) END AS since_ns
    FROM m
    JOIN zero z ON z.job_id = m.job_id AND z.host = m.host
    JOIN source b ON b.run_id = $run AND b.source_id = z.source_id
), e AS ( -- each match on each host, with 1 us for starts of sources
    SELECT
        m.job_id,
        m.match_id,
        o.host,
        o.is_first,
        bool_and(m.is_whole) AS is_whole,
        max(m.start_ns + o.since_ns - CASE WHEN o.is_zero THEN 0 ELSE 1000 END) AS start_ns,
        min(m.end_ns + o.since_ns + CASE WHEN o.is_zero THEN 0 ELSE 1000 END) AS end_ns
    FROM m JOIN own o ON o.job_id = m.job_id AND o.source_id = m.source_id
    WHERE m.operation IN ('all-reduce', 'all-gather', 'reduce-scatter') AND o.since_ns IS NOT NULL
    GROUP BY m.job_id, m.match_id, o.host, o.is_first
), b AS (
    SELECT
        x.job_id,
        x.host,
        x.is_whole AND f.is_whole AS is_whole,
        x.start_ns AS high_at_ns,
        f.end_ns - x.start_ns AS high_ns,
        x.end_ns AS low_at_ns,
        f.start_ns - x.end_ns AS low_ns
    FROM e x JOIN e f ON f.job_id = x.job_id AND f.match_id = x.match_id AND f.is_first
    WHERE NOT x.is_first
), g AS ( -- numbers of a size that doubles hold to the nanosecond
    SELECT
        b.job_id,
        b.host,
        count(*) AS matches,
        bool_and(b.is_whole) AS is_whole,
        min(b.high_at_ns) AS zero_ns,
        max(b.low_at_ns) - min(b.high_at_ns) AS last_ns,
        min(b.high_ns) AS base_ns
    FROM b
    GROUP BY b.job_id, b.host
), r AS (
    SELECT
        b.job_id,
        b.host,
        (b.high_at_ns - g.zero_ns)::DOUBLE AS high_at,
        (b.high_ns - g.base_ns)::DOUBLE AS high,
        (b.low_at_ns - g.zero_ns)::DOUBLE AS low_at,
        (b.low_ns - g.base_ns)::DOUBLE AS low,
        g.last_ns
    FROM b JOIN g ON g.job_id = b.job_id AND g.host = b.host
    WHERE g.is_whole AND g.matches >= 3
), high AS ( -- of each part of the time the tightest: enough to tell the slopes, and never too much
    SELECT
        r.job_id,
        r.host,
        arg_min(r.high_at, (r.high, r.high_at)) AS at,
        min(r.high) AS ns
    FROM r
    GROUP BY r.job_id, r.host, floor(r.high_at * 128 / (r.last_ns + 1))
), low AS (
    SELECT
        r.job_id,
        r.host,
        arg_max(r.low_at, (r.low, r.low_at)) AS at,
        max(r.low) AS ns
    FROM r
    GROUP BY r.job_id, r.host, floor(r.low_at * 128 / (r.last_ns + 1))
), slope AS (
    SELECT
        h.job_id,
        h.host,
        greatest(max(CASE WHEN l.at > h.at THEN (l.ns - h.ns) / (l.at - h.at) END), -500e-6) AS flattest,
        least(min(CASE WHEN l.at < h.at THEN (h.ns - l.ns) / (h.at - l.at) END), 500e-6) AS steepest,
        coalesce(bool_or(l.at = h.at AND l.ns > h.ns), false) AS is_empty
    FROM high h JOIN low l ON l.job_id = h.job_id AND l.host = h.host
    GROUP BY h.job_id, h.host
), ends AS ( -- the interval at the first and the last match
    SELECT
        r.job_id,
        r.host,
        any_value(r.last_ns) AS last_ns,
        min(r.high - s.flattest * r.high_at) AS first_high,
        max(r.low - s.steepest * r.low_at) AS first_low,
        min(r.high + s.steepest * (r.last_ns - r.high_at)) AS last_high,
        max(r.low + s.flattest * (r.last_ns - r.low_at)) AS last_low
    FROM r JOIN slope s ON s.job_id = r.job_id AND s.host = r.host
    WHERE s.flattest <= s.steepest AND NOT s.is_empty
    GROUP BY r.job_id, r.host
), line AS (
    SELECT
        e.job_id,
        e.host,
        (e.first_high + e.first_low) / 2 AS first_ns,
        ((e.last_high + e.last_low) - (e.first_high + e.first_low)) / 2 / greatest(e.last_ns, 1) AS drift_ratio,
        greatest(e.first_high - e.first_low, e.last_high - e.last_low) / 2 AS error_ns
    FROM ends e
    WHERE e.first_high >= e.first_low AND e.last_high >= e.last_low
)
SELECT
    o.source_id,
    o.job_id,
    o.host,
    (round(l.first_ns + l.drift_ratio * (o.since_ns - g.zero_ns)) + g.base_ns + o.since_ns)::BIGINT AS offset_ns,
    l.drift_ratio,
    ceil(l.error_ns)::BIGINT + CASE WHEN o.is_zero THEN 1 ELSE 1001 END AS error_ns,
    coalesce(g.matches, 0) AS match_count,
    CASE
        WHEN l.host IS NOT NULL AND o.since_ns IS NOT NULL THEN NULL
        WHEN coalesce(g.matches, 0) = 0 OR o.since_ns IS NULL THEN 'few-matches'
        WHEN NOT g.is_whole THEN 'uneven-counts'
        WHEN g.matches < 3 THEN 'few-matches'
        ELSE 'no-line'
    END AS reason
FROM own o
LEFT JOIN g ON g.job_id = o.job_id AND g.host = o.host
LEFT JOIN line l ON l.job_id = o.job_id AND l.host = o.host
WHERE NOT o.is_first
