-- _finding-host-bound v1: Finding: a GPU is idle while the thread that launches is outside CUDA.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   span VARCHAR = NULL: name of a relation that holds _finding-span of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: ranges in which most of that time the next launch was made; NULL outside every range
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

WITH g AS (
    SELECT p.stage, t.device_id AS device, x.path, sum(t.host_ns)::BIGINT AS host_ns
    FROM gap_sum t LEFT JOIN path_stage p ON p.run_id = t.run_id AND p.path_id = t.path_id LEFT JOIN range_path x ON x.run_id = t.run_id AND x.path_id = t.path_id
    WHERE t.run_id = _run_id_v1(run) AND t.source_id IN (SELECT c.source_id FROM _timeline_v1(run, source := source) c) AND t.host_ns > 0
    GROUP BY ALL
)
SELECT 'host-bound' AS finding, s.stage, s.device, (SELECT arg_max(g.path, (g.host_ns, g.path)) FROM g WHERE g.device = s.device AND (s.stage IS NULL OR g.stage = s.stage)) AS subject, s.host_ns AS saving_ns,
    format('the GPU is idle {} of {} while the thread that launches next makes no CUDA call for 100 us and longer: {} in each of {} passes', _time_text_v1(s.host_ns), _time_text_v1(s.span_ns), _time_text_v1(s.host_ns / s.passes), s.passes) AS evidence
FROM query(_given_v1(span, '_finding_span_v1', run, source)) s
WHERE s.host_ns > 0
