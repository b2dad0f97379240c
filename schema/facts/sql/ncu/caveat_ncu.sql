-- caveat_ncu: Caveats about profiled launches: how many match timeline kernels, how much of their time, and whether operations were
--     measured.
-- into: caveat
-- needs: ncu_launch

WITH m AS (
    SELECT
        m.kind,
        m.is_counted,
        m.timeline_name_id,
        l.grid,
        l.block,
        count(*) AS launches,
        count(m.matched_by) AS matched
    FROM ncu_match m JOIN ncu_measure l ON l.run_id = m.run_id AND l.launch_id = m.launch_id
    WHERE m.run_id = $run
    GROUP BY m.kind, m.is_counted, m.timeline_name_id, l.grid, l.block
), spent AS (
    SELECT
        t.kind,
        t.kernel_name_id,
        t.grid,
        t.block,
        sum(t.total_ns) AS ns
    FROM ncu_timeline t
    WHERE t.run_id = $run
    GROUP BY t.kind, t.kernel_name_id, t.grid, t.block
), whole AS (
    SELECT
        s.kind,
        sum(s.ns)::DOUBLE AS ns
    FROM spent s
    GROUP BY s.kind
)
SELECT
    'match' AS topic,
    'matched-launches' AS kind,
    m.kind AS capture,
    m.is_counted,
    sum(m.matched)::BIGINT AS item_count,
    sum(m.launches)::BIGINT AS of_count,
    coalesce(sum(s.ns) FILTER (m.matched > 0), 0)::DOUBLE AS time_ns,
    w.ns AS of_time_ns
FROM m
JOIN whole w ON w.kind = m.kind
LEFT JOIN spent s ON s.kind = m.kind AND s.kernel_name_id = m.timeline_name_id AND s.grid = m.grid AND s.block = m.block
GROUP BY m.kind, m.is_counted, w.ns
UNION ALL BY NAME
SELECT 'flop' AS topic, 'no-operations-measured' AS kind, true AS is_counted
WHERE EXISTS (SELECT 1 FROM ncu_measure l WHERE l.run_id = $run)
    AND NOT EXISTS (SELECT 1 FROM ncu_flop f WHERE f.run_id = $run AND f.flop IS NOT NULL)
