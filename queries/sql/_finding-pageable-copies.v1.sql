-- _finding-pageable-copies v1: Finding: data is copied to a GPU from pageable memory again and again.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   span VARCHAR = NULL: name of a relation that holds _finding-span of the run already, in its place
--   place VARCHAR = NULL: name of a relation that holds _finding-place of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: NULL
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

WITH place AS (
    SELECT p.range_context_id, p.stage FROM query(_given_v1(place, '_finding_place_v1', run, source)) p
), m AS (
    SELECT p.stage, m.device_id AS device, count(*) AS copies, sum(m.duration_ns)::BIGINT AS total_ns, sum(m.size_bytes)::BIGINT AS total_bytes, coalesce(sum(m.launch_duration_ns), 0)::BIGINT AS call_ns
    FROM memop m LEFT JOIN place p ON p.range_context_id = m.range_context_id
    WHERE m.run_id = _run_id_v1(run) AND m.source_id IN (SELECT t.source_id FROM _timeline_v1(run, source := source) t) AND (p.stage IS NOT NULL OR NOT EXISTS (SELECT 1 FROM place))
        AND m.operation LIKE '%Host-to-Device%' AND m.src_memory = 'Pageable'
    GROUP BY p.stage, m.device_id
)
SELECT 'pageable-copies' AS finding, s.stage, s.device, NULL::VARCHAR AS subject, m.total_ns AS saving_ns,
    format('{} copies from pageable memory in {} passes, {}take {} on the GPU and {} in the calls that make them', m.copies, s.passes, coalesce(format('{:.3f} MB together, ', m.total_bytes / 1e6), ''), _time_text_v1(m.total_ns), _time_text_v1(m.call_ns)) AS evidence
FROM query(_given_v1(span, '_finding_span_v1', run, source)) s JOIN m ON m.stage IS NOT DISTINCT FROM s.stage AND m.device = s.device
WHERE m.copies > 1 AND m.copies >= s.passes * (SELECT r.value FROM finding_rules_v1 r WHERE r.finding = 'pageable-copies')
