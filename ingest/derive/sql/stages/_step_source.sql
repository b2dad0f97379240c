-- _step_source: Timelines without ranges that are steps.
-- grain: one source
-- key: source_id
-- columns:
--   source_id INTEGER: the source

SELECT t.source_id
FROM timeline t
WHERE t.run_id = $run AND t.source_id NOT IN (SELECT r.source_id FROM _step_range r)
