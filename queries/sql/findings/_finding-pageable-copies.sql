-- _finding-pageable-copies: Finding: data is copied to a GPU from pageable memory again and again.
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

-- Copies of one pass are no repetition. What they take while kernels run is no time to save.
WITH place AS (
    SELECT p.range_context_id, p.stage, p.range_id FROM query(_given(place, '_finding_place', run, source)) p
), c AS (
    SELECT p.stage, p.range_id, m.device_id AS device, count(*) AS copies, sum(m.duration_ns)::BIGINT AS total_ns, sum(m.size_bytes)::BIGINT AS total_bytes, coalesce(sum(m.launch_duration_ns), 0)::BIGINT AS call_ns
    FROM memop m LEFT JOIN place p ON p.range_context_id = m.range_context_id
    WHERE m.run_id = run AND m.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND (p.stage IS NOT NULL OR NOT EXISTS (SELECT 1 FROM place))
        AND m.operation LIKE '%Host-to-Device%' AND m.src_memory = 'Pageable'
    GROUP BY p.stage, p.range_id, m.device_id
), m AS (
    SELECT c.stage, c.device, count(*) AS passes, sum(c.copies)::BIGINT AS copies, sum(c.total_ns)::BIGINT AS total_ns, sum(c.total_bytes)::BIGINT AS total_bytes, sum(c.call_ns)::BIGINT AS call_ns, max(c.total_ns) AS max_ns, median(c.total_ns) AS median_ns
    FROM c GROUP BY c.stage, c.device
)
SELECT 'pageable-copies' AS finding, s.stage, s.device, NULL::VARCHAR AS subject, least(m.total_ns, s.copy_ns) AS saving_ns,
    format('{} from pageable memory{}, {}take {} on the GPU{} and {} in the calls that make them{}', _count_text(m.copies, 'copy', 'copies'), CASE WHEN s.stage IS NULL THEN '' ELSE format(' in {:,} of {}', m.passes, _count_text(s.passes, 'pass', 'passes')) END,
        coalesce(format('{:.3f} MB together, ', m.total_bytes / 1e6), ''), _time_text(m.total_ns), CASE WHEN s.copy_ns < m.total_ns THEN format(' (copies ran {} while no kernel did)', _time_text(s.copy_ns)) ELSE '' END, _time_text(m.call_ns),
        _spread_text(m.total_ns, m.max_ns, m.median_ns, m.passes)) AS evidence
FROM query(_given(span, '_finding_span', run, source)) s JOIN m ON m.stage IS NOT DISTINCT FROM s.stage AND m.device = s.device
WHERE m.copies > 1 AND (s.stage IS NULL OR m.passes >= s.passes * (SELECT r.value FROM finding_rules_v1 r WHERE r.finding = 'pageable-copies')) AND s.copy_ns > 0
