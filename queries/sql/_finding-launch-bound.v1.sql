-- _finding-launch-bound v1: Finding: a GPU is idle because launches come too late, and graphs do not launch most of its work.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   span VARCHAR = NULL: name of a relation that holds _finding-span of the run already, in its place
--   work VARCHAR = NULL: name of a relation that holds _finding-work of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: NULL
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

WITH w AS ( -- replays without their kernels count by the time in which no kernel ran
    SELECT w.stage, w.device, sum(w.calls)::BIGINT AS calls, sum(w.total_ns)::BIGINT AS total_ns, coalesce(sum(w.total_ns) FILTER (w.is_graph), 0)::BIGINT AS graph_ns, coalesce(sum(w.calls) FILTER (NOT w.is_graph), 0)::BIGINT AS single_calls
    FROM query(_given_v1(work, '_finding_work_v1', run, source)) w GROUP BY w.stage, w.device
), s AS (
    SELECT s.stage, s.device, s.passes, s.span_ns, s.busy_ns, s.launch_ns, s.late_ns, coalesce(w.single_calls, 0) AS single_calls, w.total_ns / nullif(w.calls, 0) AS mean_ns,
        (coalesce(w.graph_ns, 0) + s.graph_ns) / nullif(coalesce(w.total_ns, 0) + s.graph_ns, 0) AS graph_ratio
    FROM query(_given_v1(span, '_finding_span_v1', run, source)) s LEFT JOIN w ON w.stage IS NOT DISTINCT FROM s.stage AND w.device = s.device
)
SELECT 'launch-bound' AS finding, s.stage, s.device, NULL::VARCHAR AS subject, s.launch_ns + s.late_ns AS saving_ns,
    format('the GPU is busy {:.1f} % of {}; it is idle {} inside launching calls and {} between calls on the way to the next launch; {:.0f} kernels a pass are launched one by one, and take {} on the mean',
        100 * s.busy_ns / s.span_ns, _time_text_v1(s.span_ns), _time_text_v1(s.launch_ns), _time_text_v1(s.late_ns), s.single_calls / s.passes, _time_text_v1(coalesce(s.mean_ns, 0))) AS evidence
FROM s WHERE s.launch_ns + s.late_ns > 0 AND coalesce(s.graph_ratio, 0) <= (SELECT r.value FROM finding_rules_v1 r WHERE r.finding = 'launch-bound')
