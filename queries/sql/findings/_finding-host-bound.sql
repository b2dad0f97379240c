-- _finding-host-bound: Finding: a GPU is idle while the thread that launches is outside CUDA.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   pass VARCHAR = NULL: name of a relation that holds _finding-pass of the run already, in its place
--   span VARCHAR = NULL: name of a relation that holds _finding-span of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: ranges in which the launch after most of that time was made, by the longest gaps that begin within the passes; NULL when none of them is known
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

WITH pass AS (
    SELECT p.range_id, p.stage FROM query(_given(pass, '_finding_pass', run, source)) p
), t AS (
    SELECT p.stage, t.source_id, t.device_id, t.start_ns, t.end_ns FROM device_time t JOIN pass p ON p.range_id = t.range_id WHERE t.run_id = run
    UNION ALL
    SELECT NULL, t.source_id, t.device_id, t.start_ns, t.end_ns
    FROM device_time t WHERE t.run_id = run AND t.range_id IS NULL AND t.source_id IN (SELECT c.source_id FROM _timeline(run, source := source) c) AND NOT EXISTS (SELECT 1 FROM pass)
), g AS (
    SELECT t.stage, t.device_id, g.path_id, sum(g.host_ns) AS host_ns
    FROM gap g JOIN t ON t.source_id = g.source_id AND t.device_id = g.device_id AND g.start_ns >= t.start_ns AND g.start_ns < t.end_ns
    WHERE g.run_id = run AND g.host_ns > 0
    GROUP BY t.stage, t.device_id, g.path_id
), top AS (
    SELECT g.stage, g.device_id, arg_max(x.path, (g.host_ns, x.path)) AS path
    FROM g JOIN range_path x ON x.run_id = run AND x.path_id = g.path_id GROUP BY g.stage, g.device_id
)
SELECT 'host-bound' AS finding, s.stage, s.device, top.path AS subject, s.host_ns AS saving_ns,
    format('the GPU is idle {} while the thread that launches next makes no CUDA call for 100 us and longer{}', _time_text(s.host_ns), s.host_spread) AS evidence
FROM query(_given(span, '_finding_span', run, source)) s LEFT JOIN top ON top.stage IS NOT DISTINCT FROM s.stage AND top.device_id = s.device
WHERE s.host_ns > 0
