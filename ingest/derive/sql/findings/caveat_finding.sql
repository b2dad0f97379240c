-- caveat_finding: What the rules of findings could not judge of a run, and how its findings are to be read.
-- into: caveat
-- needs: device_time

WITH t AS (
    SELECT t.kind, t.is_counted, t.source_id FROM timeline t WHERE t.run_id = $run
), w AS ( -- those with device work
    SELECT DISTINCT t.kind, t.is_counted FROM t JOIN device_time d ON d.run_id = $run AND d.source_id = t.source_id AND d.range_id IS NULL
), s AS (
    SELECT s.kind, s.is_counted, sum(s.span_ns) AS span_ns, sum(s.profiler_ns) AS profiler_ns, sum(s.unknown_ns) AS unknown_ns, sum(s.launch_ns + s.late_ns) AS launch_ns FROM finding_span s WHERE s.run_id = $run GROUP BY s.kind, s.is_counted
), gpu AS (
    SELECT t.kind, bool_or(d.sm_count IS NULL) AS is_small_unknown, bool_or(d.compute_capability IS NULL OR d.max_warp_per_sm_count IS NULL OR d.shared_per_sm_bytes IS NULL) AS is_wave_unknown
    FROM t JOIN device d ON d.run_id = $run AND d.source_id = t.source_id GROUP BY t.kind
), sampled AS (
    SELECT DISTINCT t.kind
    FROM device_sample s JOIN capture_source a ON a.run_id = s.run_id AND a.pass_id = s.pass_id JOIN t ON t.source_id = a.captured_source_id
    JOIN capture_device c ON c.run_id = s.run_id AND c.device_id = s.device_id AND c.source_id = s.source_id
    JOIN device d ON d.run_id = s.run_id AND d.source_id = a.captured_source_id AND replace(d.uuid, 'GPU-', '') = replace(c.uuid, 'GPU-', '')
    WHERE s.run_id = $run AND s.throttle_mask IS NOT NULL
), alone AS (
    SELECT median(p.workload_ns) AS ns FROM capture_pass p WHERE p.run_id = $run AND p.status = 'ok' AND p.tool = 'none'
), overhead AS (
    SELECT max((m.ns - a.ns) / nullif(a.ns, 0)) AS ratio
    FROM (SELECT median(p.workload_ns) AS ns FROM capture_pass p WHERE p.run_id = $run AND p.status = 'ok' AND p.tool = 'nsys' GROUP BY p.mode) m CROSS JOIN alone a
)
SELECT 'finding' AS topic, 'idle-of-profiler' AS kind, s.kind AS capture, s.is_counted, s.profiler_ns / s.span_ns AS ratio FROM s WHERE s.span_ns > 0 AND s.profiler_ns >= 0.01 * s.span_ns
UNION ALL BY NAME
SELECT 'finding' AS topic, 'idle-before-unknown-launch' AS kind, s.kind AS capture, s.is_counted, s.unknown_ns / s.span_ns AS ratio FROM s WHERE s.span_ns > 0 AND s.unknown_ns >= 0.01 * s.span_ns
UNION ALL BY NAME
SELECT 'finding' AS topic, 'rules-without-profile' AS kind, w.kind AS capture, w.is_counted
FROM w WHERE NOT EXISTS (SELECT 1 FROM ncu_match m WHERE m.run_id = $run AND m.kind = w.kind AND m.timeline_name_id IS NOT NULL)
UNION ALL BY NAME
SELECT 'finding' AS topic, CASE WHEN g.is_small_unknown IS DISTINCT FROM false THEN 'rules-without-sms' ELSE 'rules-without-limits' END AS kind, w.kind AS capture, w.is_counted
FROM w LEFT JOIN gpu g ON g.kind = w.kind WHERE (g.is_small_unknown OR g.is_wave_unknown) IS DISTINCT FROM false
UNION ALL BY NAME
SELECT 'finding' AS topic, 'kernels-without-grid' AS kind, t.kind AS capture, t.is_counted, sum(k.launch_count)::BIGINT AS item_count
FROM t JOIN kernel_duration k ON k.run_id = $run AND k.source_id = t.source_id WHERE k.grid_x IS NULL GROUP BY t.kind, t.is_counted
UNION ALL BY NAME
SELECT 'finding' AS topic, 'copies-without-memory' AS kind, t.kind AS capture, t.is_counted, count(*) AS item_count
FROM t JOIN memop m ON m.run_id = $run AND m.source_id = t.source_id WHERE m.operation LIKE '%Host-to-Device%' AND m.src_memory IS NULL GROUP BY t.kind, t.is_counted
UNION ALL BY NAME
SELECT 'finding' AS topic, CASE WHEN EXISTS (SELECT 1 FROM device_sample d WHERE d.run_id = $run AND d.throttle_mask IS NOT NULL) THEN 'clocks-of-others' ELSE 'no-clocks' END AS kind, w.kind AS capture, w.is_counted
FROM w WHERE w.kind NOT IN (SELECT x.kind FROM sampled x)
UNION ALL BY NAME
SELECT 'finding' AS topic, 'savings-overlap' AS kind, w.kind AS capture, w.is_counted FROM w
UNION ALL BY NAME
SELECT 'finding' AS topic, CASE WHEN o.ratio > 0 THEN 'launches-slowed' ELSE 'launches-slowed-unmeasured' END AS kind, s.kind AS capture, s.is_counted, CASE WHEN o.ratio > 0 THEN o.ratio END AS ratio
FROM s CROSS JOIN overhead o WHERE s.launch_ns > 0
