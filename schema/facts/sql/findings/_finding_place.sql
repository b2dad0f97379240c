-- _finding_place: Which launches belong to the passes that findings are about, by the ranges that they were made in.
-- grain: one set of ranges
-- key: range_context_id
-- needs: _finding_pass
-- columns:
--   range_context_id BIGINT: the set of ranges
--   stage VARCHAR: the stage
--   range_id BIGINT: the pass; of several nested in each other the one that began first

SELECT
    c.range_context_id,
    p.stage,
    min(p.range_id) AS range_id
FROM _finding_pass p
JOIN range_context c ON c.range_id = p.range_id
JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id AND s.stage = p.stage
WHERE c.run_id = $run
GROUP BY c.range_context_id, p.stage
