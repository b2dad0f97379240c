-- _finding-launch: How the work of the passes that findings are about was launched: one by one or by CUDA graphs.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   span VARCHAR = NULL: name of a relation that holds _finding-span of the run already, in its place
--   place VARCHAR = NULL: name of a relation that holds _finding-place of the run already, in its place
--   work VARCHAR = NULL: name of a relation that holds _finding-work of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   idle_ns: idle for want of launches: launch_ns and late_ns of _finding-span
--   graph_ratio: share of the work that graphs launched, by time; replays without their kernels count by the time in which no kernel ran
--   replays: graph replays
--   is_graph: whether that share is above what the rule graph-gaps is tried by
--   evidence: how busy the GPU was, what it was idle in, and how that is spread over passes
--   single_text: kernels that no graph launched, in words; NULL when there are none
--   replay_text: graph replays, in words; NULL when there are none

WITH place AS (
    SELECT p.range_context_id, p.stage FROM query(_given(place, '_finding_place', run, source)) p
), w AS (
    SELECT w.stage, w.device, coalesce(sum(w.total_ns) FILTER (w.is_graph), 0)::BIGINT AS graph_ns, coalesce(sum(w.total_ns) FILTER (NOT w.is_graph), 0)::BIGINT AS single_ns, coalesce(sum(w.calls) FILTER (NOT w.is_graph), 0)::BIGINT AS singles
    FROM query(_given(work, '_finding_work', run, source)) w GROUP BY w.stage, w.device
), g AS (
    SELECT p.stage, g.device_id AS device, count(*) AS replays
    FROM graph_launch g LEFT JOIN place p ON p.range_context_id = g.range_context_id
    WHERE g.run_id = run AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND (p.stage IS NOT NULL OR NOT EXISTS (SELECT 1 FROM place))
    GROUP BY p.stage, g.device_id
), s AS (
    SELECT s.stage, s.device, s.passes, s.span_ns, s.busy_ns, s.launch_ns, s.late_ns, s.launch_spread, coalesce(w.singles, 0) AS singles, coalesce(w.single_ns, 0) AS single_ns,
        coalesce(g.replays, 0) AS replays, (coalesce(w.graph_ns, 0) + s.graph_ns) / nullif(coalesce(w.graph_ns, 0) + coalesce(w.single_ns, 0) + s.graph_ns, 0) AS graph_ratio
    FROM query(_given(span, '_finding_span', run, source)) s LEFT JOIN w ON w.stage IS NOT DISTINCT FROM s.stage AND w.device = s.device LEFT JOIN g ON g.stage IS NOT DISTINCT FROM s.stage AND g.device = s.device
    WHERE s.span_ns > 0
)
SELECT s.stage, s.device, s.launch_ns + s.late_ns AS idle_ns, s.graph_ratio, s.replays, coalesce(s.graph_ratio > (SELECT r.value FROM finding_rules_v1 r WHERE r.finding = 'graph-gaps'), false) AS is_graph,
    format('the GPU is busy {:.1f} % of the time; it is idle {}{}', 100 * s.busy_ns / s.span_ns, concat_ws(' and ', CASE WHEN s.launch_ns > 0 THEN _time_text(s.launch_ns) || ' inside launching calls' END,
        CASE WHEN s.late_ns > 0 THEN _time_text(s.late_ns) || ' between calls on the way to the next launch' END), s.launch_spread) AS evidence,
    CASE WHEN s.singles > 0 THEN format('launched one by one: {} of {} on the mean', CASE WHEN s.stage IS NULL OR s.singles < s.passes THEN _count_text(s.singles, 'kernel', 'kernels') ELSE _count_text(s.singles / s.passes, 'kernel', 'kernels') || ' a pass' END,
        _time_text(s.single_ns / s.singles)) END AS single_text,
    CASE WHEN s.replays > 0 THEN CASE WHEN s.stage IS NULL OR s.replays < s.passes THEN _count_text(s.replays, 'graph replay', 'graph replays') ELSE _count_text(s.replays / s.passes, 'graph replay', 'graph replays') || ' a pass' END END AS replay_text
FROM s
