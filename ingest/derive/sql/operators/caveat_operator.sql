-- caveat_operator: Whose operators are counted and what they leave out, or why the run has none.
-- into: caveat

WITH own AS (
    SELECT o.source_id, count(o.op_input_id) > 0 AS has_inputs FROM op o WHERE o.run_id = $run GROUP BY o.source_id
), have AS ( -- the first of them is counted
    SELECT CASE s.kind WHEN 'torch' THEN 1 ELSE 2 END AS place, s.kind AS capture, s.source_id, s.path, o.has_inputs FROM own o JOIN source s ON s.run_id = $run AND s.source_id = o.source_id WHERE s.kind IN ('torch', 'nsys')
    UNION ALL
    SELECT 3, 'key_averages', s.source_id, s.path, bool_or(a.shapes IS NOT NULL) FROM op_average a JOIN source s ON s.run_id = a.run_id AND s.source_id = a.source_id WHERE a.run_id = $run GROUP BY s.source_id, s.path
), w AS (
    SELECT h.capture, h.place = (SELECT min(x.place) FROM have x) AS is_counted, h.place, count(*) AS sources, bool_or(h.has_inputs) AS has_inputs, arg_min(h.path, h.source_id) AS path, arg_min(h.path, h.source_id) FILTER (h.has_inputs) AS shaped_path
    FROM have h GROUP BY h.capture, h.place
), work AS (
    SELECT k.source_id, k.op_id, k.duration_ns FROM kernel k WHERE k.run_id = $run AND k.source_id IN (SELECT h.source_id FROM have h WHERE h.place < 3)
    UNION ALL
    SELECT m.source_id, m.op_id, m.duration_ns FROM memop m WHERE m.run_id = $run AND m.source_id IN (SELECT h.source_id FROM have h WHERE h.place < 3)
), share AS (
    SELECT h.capture, sum(x.duration_ns) AS all_ns, sum(x.duration_ns) FILTER (x.op_id = 0) AS outside_ns, sum(x.duration_ns) FILTER (x.op_id IS NULL) AS unknown_ns
    FROM work x JOIN have h ON h.source_id = x.source_id AND h.place < 3 GROUP BY h.capture
)
SELECT 'operators' AS topic, 'no-operators' AS kind, NULL AS capture, true AS is_counted WHERE NOT EXISTS (SELECT 1 FROM w)
UNION ALL BY NAME
SELECT 'operators' AS topic, 'no-operators-of-capture' AS kind, x.capture, false AS is_counted, x.capture AS subject, w.capture AS object
FROM (VALUES ('torch'), ('nsys'), ('key_averages')) x(capture) CROSS JOIN w WHERE x.capture NOT IN (SELECT y.capture FROM w y)
UNION ALL BY NAME
SELECT 'operators' AS topic, 'operators-of-several-captures' AS kind, w.capture, w.is_counted, w.capture AS subject, x.capture AS object FROM w JOIN w x ON x.capture <> w.capture
UNION ALL BY NAME
SELECT 'operators' AS topic, 'operators-of-several-traces' AS kind, w.capture, w.is_counted, w.sources AS item_count FROM w WHERE w.place < 3 AND w.sources > 1
UNION ALL BY NAME
SELECT x.topic, x.kind, w.capture, w.is_counted FROM w CROSS JOIN (VALUES ('operator-sums', 'sums-of-operators'), ('operator-calls', 'no-calls-in-sums')) x(topic, kind) WHERE w.place = 3
UNION ALL BY NAME
SELECT 'operator-sums' AS topic, 'several-tables-of-sums' AS kind, w.capture, w.is_counted, w.path AS object, nullif(w.shaped_path, w.path) AS detail, w.sources AS item_count FROM w WHERE w.place = 3 AND w.sources > 1
UNION ALL BY NAME
SELECT 'operator-shapes' AS topic, CASE w.place WHEN 3 THEN 'no-shapes-in-sums' ELSE 'no-shapes' END AS kind, w.capture, w.is_counted FROM w WHERE NOT w.has_inputs
UNION ALL BY NAME
SELECT 'outside' AS topic, x.kind, w.capture, w.is_counted, x.ns::DOUBLE AS time_ns, s.all_ns::DOUBLE AS of_time_ns
FROM share s JOIN w ON w.capture = s.capture CROSS JOIN LATERAL (SELECT 'work-outside-operators' AS kind, s.outside_ns AS ns UNION ALL SELECT 'work-of-unknown-operators', s.unknown_ns) x WHERE x.ns >= 0.01 * s.all_ns AND s.all_ns > 0
UNION ALL BY NAME
SELECT 'outside' AS topic, 'no-device-work' AS kind, w.capture, w.is_counted FROM w WHERE w.place < 3 AND w.capture NOT IN (SELECT s.capture FROM share s)
