-- _finding-launch-bound: Finding: a GPU is idle because launches come too late, and graphs do not launch most of its work.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   launch VARCHAR = NULL: name of a relation that holds _finding-launch of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: NULL
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

SELECT 'launch-bound' AS finding, l.stage, l.device, NULL::VARCHAR AS subject, l.idle_ns AS saving_ns, concat_ws('; ', l.evidence, l.single_text, l.replay_text) AS evidence
FROM query(_given(launch, '_finding_launch', run, source)) l
WHERE l.idle_ns > 0 AND NOT l.is_graph
