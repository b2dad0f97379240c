-- _caveat-step: Sources in which no range is a step, so that steps are found by what recurs.
-- grain: one caveat, as in the table caveat
-- key: kind, subject
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kind: what it says
--   subject: what it is about

SELECT 'steps-by-recurrence' AS kind, s.path AS subject
FROM source s
WHERE s.run_id = run AND s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND s.source_id NOT IN (SELECT x.source_id FROM step x WHERE x.run_id = run AND x.basis = 'range')
