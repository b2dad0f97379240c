-- _finding-call: CUDA calls made in the passes that findings are about, by processes that have work of the stage on the GPU, by function and what they do.
-- grain: one stage, GPU, function and kind
-- key: stage, device, api, kind
-- params:
--   run VARCHAR: the run
--   pass VARCHAR = NULL: name of a relation that holds _finding-pass of the run already, in its place
--   place VARCHAR = NULL: name of a relation that holds _finding-place of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage; NULL of a run without measured passes
--   device: GPU; the calls of a process with work on several count for each of them
--   api: function
--   kind: launch, load (a launch of 100 us and longer, which loads the kernel's code first), copy, wait, query (asks whether something is done: no idle time is told by it) or other, as idle time is told by it at ingest
--   calls: calls
--   total_ns: time in them, on all threads

WITH pass AS (
    SELECT p.range_id, p.stage FROM query(_given(pass, '_finding_pass', run, source)) p
), place AS (
    SELECT p.range_context_id, p.stage FROM query(_given(place, '_finding_place', run, source)) p
), counted AS (
    SELECT t.source_id FROM _timeline(run, source := source) t
), worker AS (
    SELECT DISTINCT p.stage, n.source_id, n.pid, d.device_id AS device
    FROM pass p JOIN nvtx_range n ON n.run_id = run AND n.range_id = p.range_id JOIN range_device d ON d.run_id = n.run_id AND d.range_id = n.range_id
    UNION
    SELECT NULL, x.source_id, x.pid, x.device_id
    FROM (SELECT k.run_id, k.source_id, k.pid, k.device_id FROM kernel k UNION SELECT m.run_id, m.source_id, m.pid, m.device_id FROM memop m UNION SELECT g.run_id, g.source_id, g.pid, g.device_id FROM graph_launch g) x
    WHERE x.run_id = run AND x.source_id IN (SELECT counted.source_id FROM counted) AND NOT EXISTS (SELECT 1 FROM pass)
), c AS (
    SELECT p.stage, c.source_id, c.pid, c.api_name_id, c.duration_ns >= 100000 AS is_long, count(*) AS calls, sum(c.duration_ns)::BIGINT AS total_ns
    FROM api_call c LEFT JOIN place p ON p.range_context_id = c.range_context_id
    WHERE c.run_id = run AND c.source_id IN (SELECT counted.source_id FROM counted) AND (p.stage IS NOT NULL OR NOT EXISTS (SELECT 1 FROM place))
    GROUP BY p.stage, c.source_id, c.pid, c.api_name_id, is_long
)
SELECT c.stage, w.device, n.name AS api, CASE WHEN contains(n.name, 'GraphLaunch') THEN 'launch' WHEN contains(n.name, 'Graph') THEN 'other' WHEN contains(n.name, 'EventQuery') OR contains(n.name, 'StreamQuery') THEN 'query'
        WHEN contains(n.name, 'Synchronize') THEN 'wait' WHEN contains(n.name, 'Memcpy') THEN 'copy' WHEN contains(n.name, 'Launch') OR contains(n.name, 'Memset') THEN CASE WHEN c.is_long THEN 'load' ELSE 'launch' END ELSE 'other' END AS kind,
    sum(c.calls)::BIGINT AS calls, sum(c.total_ns)::BIGINT AS total_ns
FROM c JOIN worker w ON w.stage IS NOT DISTINCT FROM c.stage AND w.source_id = c.source_id AND w.pid = c.pid JOIN api_name n ON n.run_id = run AND n.api_name_id = c.api_name_id
GROUP BY c.stage, w.device, n.name, kind
