-- _caveat-warm: Passes that stages excludes among what a query counts that does not exclude them.
-- grain: one caveat, as in the table caveat
-- key: kind, stage, detail
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only passes of this stage
--   {source}
-- columns:
--   kind: what it says
--   stage: their stage
--   detail: unlike for those that do other work; else empty
--   item_count: how many

SELECT
    'warm-included' AS kind,
    p.stage,
    CASE WHEN p.is_unlike THEN 'unlike' ELSE '' END AS detail,
    count(*) AS item_count
FROM stage_pass p
WHERE p.run_id = run
    AND p.is_warmup
    AND p.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND (stage IS NULL OR p.stage = stage)
GROUP BY p.stage, detail
