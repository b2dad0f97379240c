-- caveat_skew: Caveats about comparing collectives between ranks.
-- into: caveat
-- needs: rank_wait

WITH r AS (
    SELECT
        t.kind,
        t.is_counted,
        w.match_id,
        w.job_id,
        w.source_id,
        w.member,
        coalesce(w.operation, w.family) AS operation,
        w.group_name,
        w.calls,
        w.rank_count,
        w.start_ns,
        w.is_told,
        w.reason,
        w.error_ns,
        w.basis
    FROM rank_wait w JOIN timeline t ON t.run_id = w.run_id AND t.source_id = w.source_id
    WHERE w.run_id = $run
), matched AS (
    SELECT
        r.kind,
        r.is_counted,
        r.match_id,
        any_value(r.is_told) AS is_told,
        any_value(r.reason) AS reason,
        bool_or(r.error_ns IS NULL) AS is_unknown,
        max(r.error_ns) AS error_ns,
        bool_or(coalesce(r.basis = 'bounds', false)) AS is_bound
    FROM r
    WHERE r.rank_count > 1 AND r.start_ns IS NOT NULL AND r.reason IS DISTINCT FROM 'hosts-apart'
    GROUP BY r.kind, r.is_counted, r.match_id
), n AS (
    SELECT
        m.kind,
        m.is_counted,
        count(*) AS matched,
        count(*) FILTER (NOT m.is_told AND m.reason <> 'within-error') AS doubtful,
        count(*) FILTER (m.reason = 'within-error') AS close,
        bool_or(m.is_unknown) AS is_unknown,
        max(m.error_ns) FILTER (NOT m.is_bound) AS error_ns,
        max(m.error_ns) FILTER (m.is_bound) AS bound_ns
    FROM matched m
    GROUP BY m.kind, m.is_counted
)
SELECT
    'skew' AS topic,
    'uneven-ranks' AS kind,
    r.kind AS capture,
    r.is_counted,
    r.operation AS subject,
    min_by(r.member, (r.calls, r.member)) AS object,
    min_by(r.member, (-r.calls, r.member)) AS detail,
    min(r.calls) AS item_count,
    max(r.calls) AS of_count
FROM r
GROUP BY r.kind, r.is_counted, r.job_id, r.operation, r.group_name
HAVING min(r.calls) < max(r.calls)
UNION ALL BY NAME
SELECT
    'skew' AS topic,
    'ranks-apart' AS kind,
    n.kind AS capture,
    n.is_counted,
    n.doubtful AS item_count,
    n.matched AS of_count
FROM n
WHERE n.doubtful > 0
UNION ALL BY NAME
SELECT
    'skew' AS topic,
    'clocks-by-capture' AS kind,
    n.kind AS capture,
    n.is_counted
FROM n
WHERE n.is_unknown
UNION ALL BY NAME
SELECT
    'skew' AS topic,
    'clocks-by-collectives' AS kind,
    n.kind AS capture,
    n.is_counted,
    n.error_ns::DOUBLE AS time_ns
FROM n
WHERE n.error_ns > 0
UNION ALL BY NAME
SELECT
    'skew' AS topic,
    'clocks-by-bounds' AS kind,
    n.kind AS capture,
    n.is_counted,
    n.close AS item_count,
    n.matched AS of_count,
    n.bound_ns::DOUBLE AS time_ns
FROM n
WHERE n.bound_ns IS NOT NULL
UNION ALL BY NAME
SELECT
    'skew' AS topic,
    'hosts-apart' AS kind,
    r.kind AS capture,
    r.is_counted,
    h.host AS subject,
    any_value(h.reason) AS detail,
    count(DISTINCT r.match_id) AS item_count
FROM r JOIN host_clock h ON h.run_id = $run AND h.source_id = r.source_id AND h.reason IS NOT NULL
WHERE r.reason = 'hosts-apart'
GROUP BY r.kind, r.is_counted, h.host
