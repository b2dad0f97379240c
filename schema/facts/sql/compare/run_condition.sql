-- run_condition: Conditions that two runs must share for a difference to come from their code alone, without tags: hardware and its state,
--     work, software and capture method.
-- grain: one aspect of a run
-- key: aspect
-- columns:
--   aspect VARCHAR: condition: GPU, driver, prompt tokens, nsys trace, torch with_stack (on; off has no row), package torch, variable
--     CUDA_LAUNCH_BLOCKING, ...; one that no source records has no row
--   value VARCHAR: its value as text with its unit; several values are separated by commas
--   weight VARCHAR: what a difference means: decides, clouds or tells, as in run-conditions
--   source_id INTEGER: the source of the value; NULL when it follows from several sources, or from none

WITH said AS (
    SELECT m.source_id, m.priority, m.aspect, m.value, m.weight
    FROM _condition_machine m
    UNION ALL
    SELECT s.source_id, s.priority, s.aspect, s.value, s.weight
    FROM _condition_sample s
    UNION ALL
    SELECT w.source_id, w.priority, w.aspect, w.value, w.weight
    FROM _condition_work w
    UNION ALL
    SELECT p.source_id, p.priority, p.aspect, p.value, p.weight
    FROM _condition_precision p
    UNION ALL
    SELECT f.source_id, f.priority, f.aspect, f.value, f.weight
    FROM _condition_fact f
    UNION ALL -- how the run came about: what was run, of which code, and by which tools it was captured
    SELECT
        NULL,
        1,
        unnest(
            [
                {'aspect': 'host', 'value': r.host, 'weight': 'clouds'},
                {'aspect': 'command', 'value': r.command, 'weight': 'tells'},
                {'aspect': 'prof version', 'value': r.prof_version, 'weight': 'tells'}
            ],
            recursive := true
        )
    FROM run r
    WHERE r.run_id = $run
    UNION ALL
    SELECT
        c.source_id,
        0,
        unnest(
            [
                {'aspect': 'capture mode', 'value': c.mode, 'weight': 'clouds'},
                {'aspect': 'workload key', 'value': c.workload_key, 'weight': 'tells'},
                {'aspect': 'command', 'value': c.command, 'weight': 'tells'},
                {'aspect': 'folder', 'value': c.folder, 'weight': 'tells'},
                {'aspect': 'commit', 'value': c.git_commit, 'weight': 'tells'},
                {'aspect': 'branch', 'value': c.git_branch, 'weight': 'tells'},
                {
                    'aspect': 'uncommitted changes',
                    'value': CASE c.is_git_dirty WHEN true THEN 'yes' WHEN false THEN 'no' END,
                    'weight': 'tells'
                }
            ],
            recursive := true
        )
    FROM capture c
    WHERE c.run_id = $run
    UNION ALL
    SELECT
        s.source_id,
        0,
        unnest(
            [
                {
                    'aspect': CASE s.kind WHEN 'prof' THEN 'tracer' ELSE s.kind END || ' version',
                    'value': s.tool_version,
                    'weight': CASE s.kind WHEN 'ncu' THEN 'tells' ELSE 'clouds' END
                },
                {
                    'aspect': 'captured ranks',
                    'value': CASE
                        WHEN s.kind <> 'ncu'
                            THEN nullif(count(DISTINCT s.rank_id) OVER (PARTITION BY s.run_id), 0)::VARCHAR
                    END,
                    'weight': 'decides'
                },
                {
                    'aspect': 'profiler',
                    'value': (
                        SELECT min(CASE t.kind WHEN 'nsys-stats' THEN 'nsys' WHEN 'proton-tree' THEN 'proton' ELSE t.kind END)
                        FROM timeline t
                        JOIN source x ON x.run_id = t.run_id AND x.source_id = t.source_id
                        WHERE t.run_id = $run AND t.is_counted
                    ),
                    'weight': 'decides'
                }
            ],
            recursive := true
        )
    FROM source s
    WHERE s.run_id = $run AND s.kind IN ({'profilers'})
    UNION ALL
    SELECT
        s.source_id,
        CASE WHEN s.status = 'ok' THEN 1 ELSE 0 END,
        'completeness',
        CASE WHEN s.status = 'ok' THEN 'complete' ELSE s.status || coalesce(': ' || s.reason, '') END,
        'clouds'
    FROM source s
    WHERE s.run_id = $run AND s.kind IN ({'timelines'}, 'capture')
    UNION ALL
    SELECT
        NULL,
        0,
        'CUDA graphs',
        CASE WHEN EXISTS (SELECT 1 FROM graph_launch g WHERE g.run_id = $run) THEN 'used' ELSE 'not used' END,
        'tells'
    WHERE EXISTS (SELECT 1 FROM source s WHERE s.run_id = $run AND s.kind IN ({'callers'}))
), best AS (
    SELECT x.aspect, x.value, x.weight, x.source_id
    FROM said x
    WHERE x.value IS NOT NULL
    QUALIFY x.priority = min(x.priority) OVER (PARTITION BY x.aspect)
)
SELECT
    b.aspect,
    string_agg(DISTINCT b.value, ', ' ORDER BY b.value) AS value,
    min(b.weight) AS weight,
    CASE WHEN count(DISTINCT b.source_id) = 1 AND count(b.source_id) = count(*) THEN min(b.source_id) END AS source_id
FROM best b
GROUP BY b.aspect
