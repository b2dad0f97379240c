-- _finding-device-latency: Finding: a GPU is idle although the next work was launched in time.
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
--   subject: NULL
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

SELECT 'device-latency' AS finding, s.stage, s.device, NULL::VARCHAR AS subject, s.queued_ns AS saving_ns,
    format('the GPU is idle {} although the next launch had returned: {} a gap, over {}{}', _time_text(s.queued_ns), _time_text(s.queued_ns / nullif(s.gap_count, 0)), _count_text(s.gap_count, 'gap', 'gaps'), s.queued_spread) AS evidence
FROM query(_given(span, '_finding_span', run, source)) s
WHERE s.queued_ns > 0
