-- _finding-place: Which launches belong to the passes that findings are about, by the ranges that they were made in. Of a run without such passes no row: there all its work counts.
-- grain: one set of ranges
-- key: range_context_id
-- params:
--   run VARCHAR: the run
--   pass VARCHAR = NULL: name of a relation that holds _finding-pass of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   range_context_id: the set of ranges
--   stage: the stage
--   range_id: the pass; of several nested in each other the one that began first

SELECT c.range_context_id, p.stage, min(p.range_id) AS range_id
FROM query(_given(pass, '_finding_pass', run, source)) p
JOIN range_context c ON c.range_id = p.range_id
JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id AND s.stage = p.stage
WHERE c.run_id = run
GROUP BY c.range_context_id, p.stage
