-- _finding-call v1: CUDA calls made in the passes that findings are about, by function and what they do.
-- grain: one stage and function
-- key: stage, api
-- params:
--   run VARCHAR: the run
--   place VARCHAR = NULL: name of a relation that holds _finding-place of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage; NULL of a run without measured passes
--   api: function
--   kind: launch, copy, wait or other, as idle time is told by it (ingest/attribute)
--   calls: calls
--   total_ns: time in them, on all threads

WITH place AS (
    SELECT p.range_context_id, p.stage FROM query(_given_v1(place, '_finding_place_v1', run, source)) p
), c AS (
    SELECT p.stage, c.api_name_id, count(*) AS calls, sum(c.duration_ns)::BIGINT AS total_ns
    FROM api_call c LEFT JOIN place p ON p.range_context_id = c.range_context_id
    WHERE c.run_id = _run_id_v1(run) AND c.source_id IN (SELECT t.source_id FROM _timeline_v1(run, source := source) t) AND (p.stage IS NOT NULL OR NOT EXISTS (SELECT 1 FROM place))
    GROUP BY p.stage, c.api_name_id
)
SELECT c.stage, n.name AS api, CASE WHEN n.name LIKE '%Graph%' AND n.name NOT LIKE '%GraphLaunch%' THEN 'other' WHEN n.name LIKE '%Synchronize%' THEN 'wait' WHEN n.name LIKE '%Memcpy%' THEN 'copy'
        WHEN n.name LIKE '%Launch%' OR n.name LIKE '%Memset%' THEN 'launch' ELSE 'other' END AS kind, sum(c.calls)::BIGINT AS calls, sum(c.total_ns)::BIGINT AS total_ns
FROM c JOIN api_name n ON n.run_id = _run_id_v1(run) AND n.api_name_id = c.api_name_id
GROUP BY c.stage, n.name
