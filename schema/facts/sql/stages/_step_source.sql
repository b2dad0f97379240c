-- _step_source: Timelines whose steps are by time: those without ranges that are steps, and those with some outside of stages. Steps inside
--     stages are by launch, as stages are.
-- grain: one source
-- key: source_id
-- columns:
--   source_id INTEGER: the source
--   is_recurring BOOLEAN: whether it has no such ranges, so that steps are what recurs

SELECT
    t.source_id,
    r.source_id IS NULL AS is_recurring
FROM timeline t
LEFT JOIN (
    SELECT
        r.source_id,
        bool_or(r.stage IS NULL) AS is_unstaged
    FROM _step_range r
    GROUP BY r.source_id
) r ON r.source_id = t.source_id
WHERE t.run_id = $run AND coalesce(r.is_unstaged, true)
