-- _note-finding: What the rules of findings could not judge of a run, and how its findings are to be read. What work they are about: _note-finding-span.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

WITH counted AS (
    SELECT t.source_id FROM _timeline(run, source := source) t
), whole AS (
    SELECT count(*) AS parts
    FROM device_time t WHERE t.run_id = run AND t.range_id IS NULL AND t.source_id IN (SELECT counted.source_id FROM counted)
), own AS (
    SELECT sum(s.span_ns)::BIGINT AS span_ns, sum(s.profiler_ns)::BIGINT AS profiler_ns, sum(s.unknown_ns)::BIGINT AS unknown_ns, sum(s.launch_ns + s.late_ns)::BIGINT AS launch_ns
    FROM finding_span s WHERE s.run_id = run AND _is_asked(s.kind, s.is_counted, source)
), gpu AS (
    SELECT bool_or(d.sm_count IS NULL) AS is_small_unknown, bool_or(d.compute_capability IS NULL OR d.max_warp_per_sm_count IS NULL OR d.shared_per_sm_bytes IS NULL) AS is_wave_unknown
    FROM device d WHERE d.run_id = run AND d.source_id IN (SELECT counted.source_id FROM counted)
)
SELECT format('in {:.1f} % of these spans a GPU was idle while the profiler itself was at work: that is no finding', 100 * own.profiler_ns / own.span_ns) AS note FROM own WHERE own.span_ns > 0 AND own.profiler_ns >= 0.01 * own.span_ns
UNION ALL
SELECT format('in {:.1f} % of these spans a GPU was idle before work whose launch was not captured: no rule can say why', 100 * own.unknown_ns / own.span_ns) FROM own WHERE own.span_ns > 0 AND own.unknown_ns >= 0.01 * own.span_ns
UNION ALL
SELECT 'below-roof and low-occupancy could not be tried: the run has no kernels profiled by Nsight Compute, or the timeline has none of these'
FROM whole WHERE whole.parts > 0 AND NOT EXISTS (SELECT 1 FROM ncu_match n WHERE n.run_id = run AND _is_asked(n.kind, n.is_counted, source) AND n.timeline_name_id IS NOT NULL)
UNION ALL
SELECT CASE WHEN gpu.is_small_unknown IS DISTINCT FROM false THEN 'small-grids and wave-tail' ELSE 'wave-tail' END || ' could not be tried on every GPU: the capture does not say its SMs or what they hold'
FROM gpu CROSS JOIN whole WHERE whole.parts > 0 AND (gpu.is_small_unknown OR gpu.is_wave_unknown) IS DISTINCT FROM false
UNION ALL
SELECT format('small-grids and wave-tail could not be tried on {:,} {}: the capture does not say the grid', count(*)::BIGINT, CASE WHEN count(*) = 1 THEN 'kernel' ELSE 'kernels' END) FROM kernel k
WHERE k.run_id = run AND k.source_id IN (SELECT counted.source_id FROM counted) AND k.grid_x IS NULL HAVING count(*) > 0
UNION ALL
SELECT format('pageable-copies could not be tried on {:,} {} to the GPU: the capture does not say from what memory', count(*)::BIGINT, CASE WHEN count(*) = 1 THEN 'copy' ELSE 'copies' END) FROM memop m
WHERE m.run_id = run AND m.source_id IN (SELECT counted.source_id FROM counted) AND m.operation LIKE '%Host-to-Device%' AND m.src_memory IS NULL HAVING count(*) > 0
UNION ALL
SELECT 'throttling could not be tried: ' || CASE WHEN EXISTS (SELECT 1 FROM device_sample d WHERE d.run_id = run AND d.throttle_mask IS NOT NULL) THEN 'the samples of clocks are not of the counted GPUs while their timeline was captured' ELSE 'the run has no samples of clocks, which prof capture takes' END
FROM whole WHERE whole.parts > 0 AND NOT EXISTS (
    SELECT 1 FROM device_sample s JOIN capture_source a ON a.run_id = s.run_id AND a.pass_id = s.pass_id JOIN capture_device c ON c.run_id = s.run_id AND c.device_id = s.device_id AND c.source_id = s.source_id
    JOIN device d ON d.run_id = s.run_id AND d.source_id = a.captured_source_id AND replace(d.uuid, 'GPU-', '') = replace(c.uuid, 'GPU-', '')
    WHERE s.run_id = run AND s.throttle_mask IS NOT NULL AND a.captured_source_id IN (SELECT counted.source_id FROM counted))
UNION ALL
SELECT 'savings overlap and do not add up: taking one away changes the others' FROM whole WHERE whole.parts > 0
UNION ALL
SELECT coalesce((SELECT format('the workload took {:.0f} % longer under Nsight Systems than alone, which is most felt in launches: launch-bound idle is less without it', 100 * max(o.overhead_ratio)) FROM overhead_v1(run) o WHERE o.tool = 'nsys' AND o.overhead_ratio > 0),
    'tracing makes each launch longer, so that launch-bound idle is less without it; prof capture --baseline measures by how much')
FROM own WHERE own.launch_ns > 0
