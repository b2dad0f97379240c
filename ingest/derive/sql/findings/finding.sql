-- finding: What could make the work faster, by the rules in finding_rule: how much time each could save over the measured passes of a stage, and the numbers that this follows from.
-- grain: one rule, stage and GPU, and kernel where the rule's subject is one, of one kind of timeline
-- key: kind, finding_id, stage, device_id, subject
-- needs: device_time
-- columns:
--   kind VARCHAR: nsys or torch
--   is_counted BOOLEAN: as in timeline
--   finding_id VARCHAR: name of the rule
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   subject VARCHAR: what it is most about, as finding_rule says; NULL when none is known
--   saving_ns BIGINT: what could be saved over the measured passes
--   pass_count BIGINT: measured passes of the stage on the GPU
--   span_ns BIGINT: sum of their spans
--   evidence VARCHAR: the numbers it follows from, by name, in base units, as JSON

WITH s AS (
    SELECT s.kind, s.is_counted, s.stage, s.device_id, s.pass_count, s.span_ns, s.busy_ns, s.kernel_ns, s.graph_ns, s.copy_ns, s.launch_ns, s.late_ns, s.wait_ns, s.call_ns, s.host_ns, s.queued_ns, s.gap_count, s.launch_max_ns,
        s.launch_median_ns, s.wait_max_ns, s.wait_median_ns, s.call_max_ns, s.call_median_ns, s.host_max_ns, s.host_median_ns, s.queued_max_ns, s.queued_median_ns
    FROM finding_span s WHERE s.run_id = $run AND s.span_ns > 0
), least_ns AS (
    SELECT r.value AS ns FROM finding_rule r WHERE r.finding_id = 'small-grids'
), work AS (
    SELECT w.kind, w.stage, w.device_id, coalesce(sum(w.sum_ns) FILTER (w.is_graph), 0)::BIGINT AS graph_ns, coalesce(sum(w.sum_ns) FILTER (NOT w.is_graph), 0)::BIGINT AS single_ns,
        coalesce(sum(w.launch_count) FILTER (NOT w.is_graph), 0)::BIGINT AS single_count, sum(w.own_ns) / nullif(sum(w.sum_ns), 0) AS own_ratio
    FROM _finding_work w GROUP BY w.kind, w.stage, w.device_id
), replay AS (
    SELECT t.kind, p.stage, g.device_id, count(*) AS replay_count
    FROM graph_launch g JOIN _finding_timeline t ON t.source_id = g.source_id LEFT JOIN _finding_place p ON p.range_context_id = g.range_context_id
    WHERE g.run_id = $run AND (p.stage IS NOT NULL OR NOT t.is_staged) GROUP BY t.kind, p.stage, g.device_id
), launch AS (
    SELECT s.kind, s.stage, s.device_id, s.launch_ns, s.late_ns, s.busy_ns / s.span_ns AS busy_ratio, s.launch_max_ns, s.launch_median_ns, s.pass_count, coalesce(w.single_count, 0) AS single_count,
        coalesce(w.single_ns, 0) AS single_ns, coalesce(g.replay_count, 0) AS replay_count, (coalesce(w.graph_ns, 0) + s.graph_ns) / nullif(coalesce(w.graph_ns + w.single_ns, 0) + s.graph_ns, 0) AS graph_ratio
    FROM s LEFT JOIN work w ON w.kind = s.kind AND w.stage IS NOT DISTINCT FROM s.stage AND w.device_id = s.device_id
    LEFT JOIN replay g ON g.kind = s.kind AND g.stage IS NOT DISTINCT FROM s.stage AND g.device_id = s.device_id
), wait AS (
    SELECT c.kind, c.stage, c.device_id, sum(c.call_count)::BIGINT AS call_count, sum(c.sum_ns)::BIGINT AS calls_ns, arg_max(c.api, (c.sum_ns, c.api)) AS api
    FROM finding_call c WHERE c.run_id = $run AND c.call_kind IN ('wait', 'copy') GROUP BY c.kind, c.stage, c.device_id
), other AS (
    SELECT c.kind, c.stage, c.device_id, arg_max({'api': c.api, 'is_load': c.call_kind = 'load', 'call_count': c.call_count, 'calls_ns': c.sum_ns}, (c.sum_ns, c.api)) AS top
    FROM finding_call c WHERE c.run_id = $run AND c.call_kind IN ('other', 'load') GROUP BY c.kind, c.stage, c.device_id
), held AS ( -- by the longest gaps that begin within the passes
    SELECT p.kind, p.stage, p.device_id, g.path_id, sum(g.host_ns) AS host_ns
    FROM gap g JOIN _finding_part p ON p.source_id = g.source_id AND p.device_id = g.device_id AND g.start_ns >= p.start_ns AND g.start_ns < p.end_ns
    WHERE g.run_id = $run AND g.host_ns > 0 GROUP BY p.kind, p.stage, p.device_id, g.path_id
), holder AS (
    SELECT h.kind, h.stage, h.device_id, arg_max(x.path, (h.host_ns, x.path)) AS path FROM held h JOIN range_path x ON x.run_id = $run AND x.path_id = h.path_id GROUP BY h.kind, h.stage, h.device_id
), chain AS (
    SELECT c.kind, c.stage, c.device_id, arg_max(c.family, (c.saving_ns, c.family)) AS family, sum(c.kernel_count)::BIGINT AS kernel_count, sum(c.chain_count)::BIGINT AS chain_count, sum(c.sum_ns)::BIGINT AS kernels_ns, sum(c.saving_ns)::BIGINT AS chained_ns
    FROM _finding_chain c GROUP BY c.kind, c.stage, c.device_id
), gpu AS ( -- of GPUs that differ by source nothing is known
    SELECT d.device_id, CASE WHEN min(d.sm_count) = max(d.sm_count) THEN min(d.sm_count) END AS sm_count, count(DISTINCT (d.sm_count, d.compute_capability, d.max_warp_per_sm_count, d.shared_per_sm_bytes)) = 1 AS is_one,
        any_value(d.compute_capability) AS compute_capability, any_value(d.max_warp_per_sm_count) AS max_warp_per_sm_count, any_value(d.shared_per_sm_bytes) AS shared_per_sm_bytes
    FROM device d WHERE d.run_id = $run GROUP BY d.device_id
), long AS (
    SELECT w.kind, w.stage, w.device_id, w.kernel_name_id, w.launch_count, w.sum_ns, w.own_ns, w.block_count, d.sm_count,
        CASE WHEN d.is_one THEN d.sm_count * _resident_block(d.compute_capability, d.max_warp_per_sm_count, d.shared_per_sm_bytes, w.thread_count, w.register_count, w.shared_bytes) END AS slot_count
    FROM _finding_work w JOIN gpu d ON d.device_id = w.device_id
    WHERE w.role IS DISTINCT FROM 'collective' AND w.sum_ns >= w.launch_count * (SELECT l.ns FROM least_ns l)
), small AS (
    SELECT l.kind, l.stage, l.device_id, l.kernel_name_id, any_value(l.sm_count) AS sm_count, sum(l.launch_count)::BIGINT AS call_count, sum(l.sum_ns)::BIGINT AS calls_ns, min(l.block_count) AS least_count, max(l.block_count) AS most_count,
        (sum(l.own_ns * (l.sm_count - l.block_count) / l.sm_count))::BIGINT AS saving_ns
    FROM long l WHERE l.block_count < l.sm_count GROUP BY l.kind, l.stage, l.device_id, l.kernel_name_id
), tail AS (
    SELECT l.kind, l.stage, l.device_id, l.kernel_name_id, sum(l.launch_count)::BIGINT AS call_count, sum(l.sum_ns)::BIGINT AS calls_ns, arg_max({'block_count': l.block_count, 'slot_count': l.slot_count}, (l.sum_ns, l.block_count, l.slot_count)) AS top,
        (sum(l.own_ns * (1 - l.block_count / (((l.block_count + l.slot_count - 1) // l.slot_count) * l.slot_count))))::BIGINT AS saving_ns
    FROM long l WHERE l.block_count > l.slot_count AND l.block_count <= l.slot_count * (SELECT r.value FROM finding_rule r WHERE r.finding_id = 'wave-tail')
    GROUP BY l.kind, l.stage, l.device_id, l.kernel_name_id
), profile AS (
    SELECT f.kind, r.finding_id, f.stage, f.device_id, f.kernel, sum(f.launch_count)::BIGINT AS call_count, sum(f.sum_ns)::BIGINT AS calls_ns, sum(f.own_ns * (1 - f.roof_ratio))::BIGINT AS saving_ns,
        arg_max({'grid': f.grid, 'block': f.block, 'roof_ratio': f.roof_ratio, 'occupancy_ratio': f.occupancy_ratio, 'bound': f.bound, 'limiter': f.limiter}, (f.sum_ns, f.grid, f.block)) AS top
    FROM _finding_profile f JOIN finding_rule r ON r.finding_id = 'below-roof' AND f.roof_ratio < r.value
        OR r.finding_id = 'low-occupancy' AND f.bound = 'latency' AND f.limiter = 'occupancy' AND f.occupancy_ratio < r.value
    GROUP BY f.kind, r.finding_id, f.stage, f.device_id, f.kernel
), copied AS (
    SELECT t.kind, p.stage, p.range_id, m.device_id, m.operation, coalesce(m.operation LIKE '%Host-to-Device%' AND m.src_memory = 'Pageable', false) AS is_pageable, count(*) AS copy_count, sum(m.duration_ns)::BIGINT AS sum_ns, sum(m.size_bytes)::BIGINT AS copied_bytes,
        coalesce(sum(m.launch_duration_ns), 0)::BIGINT AS call_ns
    FROM memop m JOIN _finding_timeline t ON t.source_id = m.source_id LEFT JOIN _finding_place p ON p.range_context_id = m.range_context_id
    WHERE m.run_id = $run AND (p.stage IS NOT NULL OR NOT t.is_staged) GROUP BY ALL
), pageable AS ( -- copies of one pass are no repetition
    SELECT c.kind, c.stage, c.device_id, count(*) AS pass_count, sum(c.copy_count)::BIGINT AS copy_count, sum(c.sum_ns)::BIGINT AS copies_ns, sum(c.copied_bytes)::BIGINT AS copied_bytes, sum(c.call_ns)::BIGINT AS call_ns, max(c.sum_ns) AS max_ns, median(c.sum_ns) AS median_ns
    FROM (SELECT c.kind, c.stage, c.range_id, c.device_id, sum(c.copy_count) AS copy_count, sum(c.sum_ns)::BIGINT AS sum_ns, sum(c.copied_bytes) AS copied_bytes, sum(c.call_ns) AS call_ns FROM copied c WHERE c.is_pageable GROUP BY ALL) c
    GROUP BY c.kind, c.stage, c.device_id
), operation AS (
    SELECT c.kind, c.stage, c.device_id, arg_max({'operation': c.operation, 'copy_count': c.copy_count, 'copies_ns': c.sum_ns, 'copied_bytes': c.copied_bytes}, (c.sum_ns, c.operation)) AS top, sum(c.sum_ns)::BIGINT AS all_ns
    FROM (SELECT c.kind, c.stage, c.device_id, c.operation, sum(c.copy_count)::BIGINT AS copy_count, sum(c.sum_ns)::BIGINT AS sum_ns, sum(c.copied_bytes)::BIGINT AS copied_bytes FROM copied c GROUP BY ALL) c
    GROUP BY c.kind, c.stage, c.device_id
), clock AS ( -- of samples in which the GPU was at work, or all where NVML does not tell that, in passes whose timeline is of the kind. Which GPU of NVML is which is known by UUIDs
    SELECT x.kind, x.device_id, x.max_clock_hz, count(*) AS sample_count, count(*) FILTER (d.throttle_mask & mask.slow <> 0) AS slow_count, avg(d.sm_clock_hz) FILTER (d.throttle_mask & mask.slow <> 0) AS clock_hz
    FROM device_sample d CROSS JOIN (SELECT bit_or(1::BIGINT << r.bit_count) AS slow FROM _throttle_reason r WHERE r.is_slowdown) mask
    JOIN (
        SELECT DISTINCT t.kind, d.device_id, c.device_id AS sampled_id, c.max_sm_clock_hz AS max_clock_hz
        FROM device d JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id JOIN capture_device c ON c.run_id = d.run_id AND replace(c.uuid, 'GPU-', '') = replace(d.uuid, 'GPU-', '')
        WHERE d.run_id = $run
    ) x ON x.sampled_id = d.device_id
    WHERE d.run_id = $run AND d.throttle_mask IS NOT NULL AND coalesce(d.sm_ratio > 0, true)
        AND (x.kind, d.pass_id) IN (SELECT (t.kind, c.pass_id) FROM capture_source c JOIN timeline t ON t.run_id = c.run_id AND t.source_id = c.captured_source_id WHERE c.run_id = $run)
    GROUP BY x.kind, x.device_id, x.max_clock_hz
), collective AS (
    SELECT c.kind, c.stage, c.device_id, sum(c.collective_count)::BIGINT AS collective_count, sum(c.collective_ns)::BIGINT AS collectives_ns, sum(c.exposed_ns)::BIGINT AS exposed_ns, max(c.exposed_ns) AS max_ns, median(c.exposed_ns) AS median_ns, count(*) AS pass_count
    FROM _finding_part c WHERE c.collective_count > 0 GROUP BY c.kind, c.stage, c.device_id
), f AS (
    SELECT CASE WHEN l.graph_ratio > (SELECT r.value FROM finding_rule r WHERE r.finding_id = 'graph-gaps') THEN 'graph-gaps' ELSE 'launch-bound' END AS finding_id, l.kind, l.stage, l.device_id, NULL::VARCHAR AS subject, l.launch_ns + l.late_ns AS saving_ns,
        to_json({'busy_ratio': l.busy_ratio, 'launch_ns': l.launch_ns, 'late_ns': l.late_ns, 'max_ns': l.launch_max_ns, 'median_ns': l.launch_median_ns, 'pass_count': l.pass_count, 'single_count': l.single_count, 'single_ns': l.single_ns,
            'replay_count': l.replay_count, 'graph_ratio': l.graph_ratio})::VARCHAR AS evidence
    FROM launch l
    UNION ALL
    SELECT 'host-waits', s.kind, s.stage, s.device_id, NULL, s.wait_ns, to_json({'max_ns': s.wait_max_ns, 'median_ns': s.wait_median_ns, 'pass_count': s.pass_count, 'call_count': c.call_count, 'calls_ns': c.calls_ns, 'api': c.api})::VARCHAR
    FROM s LEFT JOIN wait c ON c.kind = s.kind AND c.stage IS NOT DISTINCT FROM s.stage AND c.device_id = s.device_id
    UNION ALL
    SELECT 'cuda-calls', s.kind, s.stage, s.device_id, c.top.api, s.call_ns, to_json({'max_ns': s.call_max_ns, 'median_ns': s.call_median_ns, 'pass_count': s.pass_count, 'call_count': c.top.call_count, 'calls_ns': c.top.calls_ns, 'is_load': c.top.is_load})::VARCHAR
    FROM s LEFT JOIN other c ON c.kind = s.kind AND c.stage IS NOT DISTINCT FROM s.stage AND c.device_id = s.device_id
    UNION ALL
    SELECT 'host-bound', s.kind, s.stage, s.device_id, h.path, s.host_ns, to_json({'max_ns': s.host_max_ns, 'median_ns': s.host_median_ns, 'pass_count': s.pass_count})::VARCHAR
    FROM s LEFT JOIN holder h ON h.kind = s.kind AND h.stage IS NOT DISTINCT FROM s.stage AND h.device_id = s.device_id
    UNION ALL
    SELECT 'device-latency', s.kind, s.stage, s.device_id, NULL, s.queued_ns, to_json({'max_ns': s.queued_max_ns, 'median_ns': s.queued_median_ns, 'pass_count': s.pass_count, 'gap_count': s.gap_count})::VARCHAR FROM s
    UNION ALL
    SELECT 'elementwise-chains', c.kind, c.stage, c.device_id, c.family, (c.chained_ns * w.own_ratio)::BIGINT,
        to_json({'kernel_count': c.kernel_count, 'below_ns': (SELECT r.value::BIGINT FROM finding_rule r WHERE r.finding_id = 'elementwise-chains'), 'chain_count': c.chain_count, 'kernels_ns': c.kernels_ns, 'chained_ns': c.chained_ns})::VARCHAR
    FROM chain c JOIN work w ON w.kind = c.kind AND w.stage IS NOT DISTINCT FROM c.stage AND w.device_id = c.device_id
    UNION ALL
    SELECT 'small-grids', q.kind, q.stage, q.device_id, n.name, q.saving_ns, to_json({'call_count': q.call_count, 'calls_ns': q.calls_ns, 'least_count': q.least_count, 'most_count': q.most_count, 'sm_count': q.sm_count})::VARCHAR
    FROM small q JOIN kernel_name n ON n.run_id = $run AND n.kernel_name_id = q.kernel_name_id
    UNION ALL
    SELECT 'wave-tail', q.kind, q.stage, q.device_id, n.name, q.saving_ns, to_json({'call_count': q.call_count, 'calls_ns': q.calls_ns, 'block_count': q.top.block_count, 'slot_count': q.top.slot_count})::VARCHAR
    FROM tail q JOIN kernel_name n ON n.run_id = $run AND n.kernel_name_id = q.kernel_name_id
    UNION ALL
    SELECT q.finding_id, q.kind, q.stage, q.device_id, q.kernel, q.saving_ns,
        to_json({'call_count': q.call_count, 'calls_ns': q.calls_ns, 'grid': q.top.grid, 'block': q.top.block, 'roof_ratio': q.top.roof_ratio, 'occupancy_ratio': q.top.occupancy_ratio, 'bound': q.top.bound, 'limiter': q.top.limiter})::VARCHAR
    FROM profile q
    UNION ALL -- what copies take while kernels run is no time to save
    SELECT 'pageable-copies', s.kind, s.stage, s.device_id, NULL, least(m.copies_ns, s.copy_ns), to_json({'copy_count': m.copy_count, 'copied_bytes': m.copied_bytes, 'copies_ns': m.copies_ns, 'alone_ns': s.copy_ns, 'call_ns': m.call_ns,
        'max_ns': m.max_ns, 'median_ns': m.median_ns, 'pass_count': m.pass_count})::VARCHAR
    FROM s JOIN pageable m ON m.kind = s.kind AND m.stage IS NOT DISTINCT FROM s.stage AND m.device_id = s.device_id
    WHERE m.copy_count > 1 AND (s.stage IS NULL OR m.pass_count >= s.pass_count * (SELECT r.value FROM finding_rule r WHERE r.finding_id = 'pageable-copies'))
    UNION ALL
    SELECT 'exposed-copies', s.kind, s.stage, s.device_id, m.top.operation, s.copy_ns, to_json({'copy_count': m.top.copy_count, 'copies_ns': m.top.copies_ns, 'copied_bytes': m.top.copied_bytes, 'all_ns': m.all_ns})::VARCHAR
    FROM s JOIN operation m ON m.kind = s.kind AND m.stage IS NOT DISTINCT FROM s.stage AND m.device_id = s.device_id
    WHERE s.copy_ns >= s.span_ns * (SELECT r.value FROM finding_rule r WHERE r.finding_id = 'exposed-copies')
    UNION ALL
    SELECT 'exposed-collectives', c.kind, c.stage, c.device_id, NULL, c.exposed_ns, to_json({'collective_count': c.collective_count, 'collectives_ns': c.collectives_ns, 'max_ns': c.max_ns, 'median_ns': c.median_ns, 'pass_count': c.pass_count,
        'rank_count': (SELECT count(*) FROM device_time d JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id WHERE d.run_id = $run AND d.range_id IS NULL AND t.kind = c.kind)})::VARCHAR
    FROM collective c
    UNION ALL
    SELECT 'throttling', s.kind, s.stage, s.device_id, NULL, (s.busy_ns * (c.slow_count / c.sample_count) * (1 - c.clock_hz / c.max_clock_hz))::BIGINT,
        to_json({'slow_count': c.slow_count, 'sample_count': c.sample_count, 'clock_hz': c.clock_hz, 'max_clock_hz': c.max_clock_hz, 'work_ns': s.busy_ns})::VARCHAR
    FROM s JOIN clock c ON c.kind = s.kind AND c.device_id = s.device_id
    WHERE c.slow_count > 0 AND c.clock_hz < c.max_clock_hz
)
SELECT f.kind, s.is_counted, f.finding_id, f.stage, f.device_id, f.subject, f.saving_ns, s.pass_count, s.span_ns, f.evidence
FROM f JOIN s ON s.kind = f.kind AND s.stage IS NOT DISTINCT FROM f.stage AND s.device_id = f.device_id
WHERE f.saving_ns > 0
