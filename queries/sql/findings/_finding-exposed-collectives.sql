-- _finding-exposed-collectives: Finding: a GPU does nothing but communicate.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   pass VARCHAR = NULL: name of a relation that holds _finding-pass of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: NULL
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

WITH p AS (
    SELECT p.range_id, p.stage FROM query(_given(pass, '_finding_pass', run, source)) p
), c AS (
    SELECT d.range_id, d.device_id, d.collective_count, d.collective_overlapped_ns + d.collective_exposed_ns AS collective_ns, d.collective_exposed_ns AS exposed_ns
    FROM device_part d WHERE d.run_id = run AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND d.collective_count > 0
), t AS (
    SELECT p.stage, c.device_id, c.collective_count, c.collective_ns, c.exposed_ns FROM c JOIN p ON p.range_id = c.range_id
    UNION ALL
    SELECT NULL, c.device_id, c.collective_count, c.collective_ns, c.exposed_ns FROM c WHERE c.range_id IS NULL AND NOT EXISTS (SELECT 1 FROM p)
)
SELECT 'exposed-collectives' AS finding, t.stage, t.device_id AS device, NULL::VARCHAR AS subject, sum(t.exposed_ns)::BIGINT AS saving_ns,
    format('{} run {}, {} of it alone ({:.1f} %){}', _count_text(sum(t.collective_count), 'collective', 'collectives'), _time_text(sum(t.collective_ns)), _time_text(sum(t.exposed_ns)), 100 * sum(t.exposed_ns) / nullif(sum(t.collective_ns), 0),
        _spread_text(sum(t.exposed_ns), max(t.exposed_ns), median(t.exposed_ns), CASE WHEN t.stage IS NULL THEN 1 ELSE count(*) END)) AS evidence
FROM t
GROUP BY t.stage, t.device_id
HAVING sum(t.exposed_ns) > 0
