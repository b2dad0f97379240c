-- _finding-graph-gaps: Finding: a GPU is idle because launches come too late, although graphs launch most of its work: its time goes between replays.
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

SELECT 'graph-gaps' AS finding, l.stage, l.device, NULL::VARCHAR AS subject, l.idle_ns AS saving_ns, concat_ws('; ', l.evidence, l.replay_text, format('graphs take {:.1f} % of the time of work', 100 * l.graph_ratio), l.single_text) AS evidence
FROM query(_given(launch, '_finding_launch', run, source)) l
WHERE l.idle_ns > 0 AND l.is_graph
