-- caveat_sums: Caveats about sums reported in place of a timeline.
-- into: caveat
-- needs: reported_sum

WITH s AS (
    SELECT t.source_id, t.kind, t.is_counted
    FROM timeline t
    WHERE t.run_id = $run AND t.source_id IN (SELECT r.source_id FROM reported_sum r WHERE r.run_id = $run)
), r AS (
    SELECT
        s.kind,
        bool_or(s.is_counted) AS is_counted,
        count(DISTINCT s.source_id) AS n
    FROM s
    GROUP BY s.kind
)
SELECT
    x.topic,
    'sums-only' AS kind,
    r.kind AS capture,
    r.is_counted,
    r.kind AS subject
FROM r CROSS JOIN (VALUES ('timelines'), ('stage'), ('accounting'), ('skew')) x(topic)
UNION ALL BY NAME
SELECT
    'timelines' AS topic,
    'several-sums' AS kind,
    r.kind AS capture,
    r.is_counted,
    r.n AS item_count
FROM r
WHERE r.n > 1
UNION ALL BY NAME
SELECT
    'timelines' AS topic,
    'rounded-times' AS kind,
    s.kind AS capture,
    s.is_counted,
    max(r.step_ns) AS time_ns
FROM s JOIN reported_sum r ON r.run_id = $run AND r.source_id = s.source_id
GROUP BY s.kind, s.is_counted
HAVING max(r.step_ns) > 1
UNION ALL BY NAME
SELECT
    'sizes' AS topic,
    'rounded-sizes' AS kind,
    s.kind AS capture,
    s.is_counted,
    max(r.step_bytes)::BIGINT AS item_count
FROM s JOIN reported_sum r ON r.run_id = $run AND r.source_id = s.source_id
GROUP BY s.kind, s.is_counted
HAVING max(r.step_bytes) > 1
