-- _condition_capture: How each run came about: what was run, of which code, and by which tools it was captured.
-- grain: one statement about an aspect of a run
-- key: run_id, source_id, aspect, value
-- columns:
--   run_id UUID: the run
--   source_id INTEGER: the source that says it; NULL when it follows from several
--   priority INTEGER: of several statements about an aspect those of the lowest number hold
--   aspect VARCHAR: what is told of
--   value VARCHAR: what is said of it; NULL when nothing is
--   weight VARCHAR: decides, clouds or tells, as in run-conditions

SELECT x.run_id, x.source_id, x.priority, x.aspect, x.value, x.weight
FROM (
    SELECT r.run_id, NULL::INTEGER AS source_id, 1 AS priority, unnest([{'aspect': 'host', 'value': r.host, 'weight': 'clouds'}, {'aspect': 'command', 'value': r.command, 'weight': 'tells'}, {'aspect': 'prof version', 'value': r.prof_version, 'weight': 'tells'}], recursive := true)
    FROM run r
    UNION ALL
    SELECT c.run_id, c.source_id, 0, unnest([{'aspect': 'capture mode', 'value': c.mode, 'weight': 'clouds'}, {'aspect': 'workload key', 'value': c.workload_key, 'weight': 'tells'}, {'aspect': 'command', 'value': c.command, 'weight': 'tells'}, {'aspect': 'folder', 'value': c.folder, 'weight': 'tells'},
        {'aspect': 'commit', 'value': c.git_commit, 'weight': 'tells'}, {'aspect': 'branch', 'value': c.git_branch, 'weight': 'tells'}, {'aspect': 'uncommitted changes', 'value': CASE c.is_git_dirty WHEN true THEN 'yes' WHEN false THEN 'no' END, 'weight': 'tells'}], recursive := true)
    FROM capture c
    UNION ALL
    SELECT s.run_id, s.source_id, 0, unnest([
        {'aspect': s.kind || ' version', 'value': s.tool_version, 'weight': CASE s.kind WHEN 'ncu' THEN 'tells' ELSE 'clouds' END},
        {'aspect': 'captured ranks', 'value': CASE WHEN s.kind <> 'ncu' THEN nullif(count(DISTINCT s.rank_id) OVER (PARTITION BY s.run_id), 0)::VARCHAR END, 'weight': 'decides'},
        {'aspect': 'profiler', 'value': min(s.kind) FILTER (s.kind <> 'ncu') OVER (PARTITION BY s.run_id), 'weight': 'decides'}], recursive := true)
    FROM source s WHERE s.kind IN ('nsys', 'torch', 'ncu')
    UNION ALL
    SELECT s.run_id, s.source_id, CASE WHEN s.status = 'ok' THEN 1 ELSE 0 END, 'completeness', CASE WHEN s.status = 'ok' THEN 'complete' ELSE s.status || coalesce(': ' || s.reason, '') END, 'clouds'
    FROM source s WHERE s.kind IN ('nsys', 'torch', 'capture')
    UNION ALL
    SELECT s.run_id, NULL, 0, 'CUDA graphs', CASE WHEN count(g.run_id) > 0 THEN 'used' ELSE 'not used' END, 'tells'
    FROM (SELECT DISTINCT x.run_id FROM source x WHERE x.kind = 'nsys') s LEFT JOIN (SELECT DISTINCT y.run_id FROM graph_launch y) g ON g.run_id = s.run_id
    GROUP BY s.run_id
) x
WHERE x.run_id = $run
