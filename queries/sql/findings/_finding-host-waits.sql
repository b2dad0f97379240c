-- _finding-host-waits: Finding: a GPU is idle while the host waits for it.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   span VARCHAR = NULL: name of a relation that holds _finding-span of the run already, in its place
--   call VARCHAR = NULL: name of a relation that holds _finding-call of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: NULL
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

WITH c AS (
    SELECT c.stage, c.device, sum(c.calls)::BIGINT AS calls, sum(c.total_ns)::BIGINT AS total_ns, arg_max(c.api, (c.total_ns, c.api)) AS api
    FROM query(_given(call, '_finding_call', run, source)) c WHERE c.kind IN ('wait', 'copy') GROUP BY c.stage, c.device
)
SELECT 'host-waits' AS finding, s.stage, s.device, NULL::VARCHAR AS subject, s.wait_ns AS saving_ns,
    format('the GPU is idle {} while the host waits for the device or for a copy{}{}', _time_text(s.wait_ns), s.wait_spread,
        coalesce(format('; {} that wait or copy take {} of the host, most in {}', _count_text(c.calls, 'call', 'calls'), _time_text(c.total_ns), c.api), '')) AS evidence
FROM query(_given(span, '_finding_span', run, source)) s LEFT JOIN c ON c.stage IS NOT DISTINCT FROM s.stage AND c.device = s.device
WHERE s.wait_ns > 0
