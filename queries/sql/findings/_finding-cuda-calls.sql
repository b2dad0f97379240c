-- _finding-cuda-calls: Finding: a GPU is idle during CUDA calls that neither launch nor wait, or load code before they launch.
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
--   subject: the function with the most time among these calls; NULL when none is known
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

WITH c AS (
    SELECT c.stage, c.device, arg_max(struct_pack(api := c.api, kind := c.kind, calls := c.calls, total_ns := c.total_ns), (c.total_ns, c.api)) AS top
    FROM query(_given(call, '_finding_call', run, source)) c WHERE c.kind IN ('other', 'load') GROUP BY c.stage, c.device
)
SELECT 'cuda-calls' AS finding, s.stage, s.device, c.top.api AS subject, s.call_ns AS saving_ns,
    format('the GPU is idle {} during CUDA calls that neither launch nor wait{}{}', _time_text(s.call_ns), s.call_spread,
        coalesce(format('; most time of these calls is in {}: {}, {}', c.top.api, _count_text(c.top.calls, 'call', 'calls') || CASE c.top.kind WHEN 'load' THEN ' of 100 us and longer, which load code' ELSE '' END, _time_text(c.top.total_ns)), '')) AS evidence
FROM query(_given(span, '_finding_span', run, source)) s LEFT JOIN c ON c.stage IS NOT DISTINCT FROM s.stage AND c.device = s.device
WHERE s.call_ns > 0
