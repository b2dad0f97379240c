-- run-conditions v1: What two runs must have in common to be compared by their code alone: hardware and its state, work, software, and how they were captured.
-- grain: one aspect of a run
-- key: run_id, aspect
-- params:
--   run VARCHAR: the run
--   others VARCHAR = NULL: ids of other runs to describe too, separated by commas: faster than one by one
-- columns:
--   aspect: what it is: GPU, driver, prompt tokens, nsys trace, torch with_stack (on; off has no row), package torch, variable CUDA_LAUNCH_BLOCKING, tag branch, ...; one that no source tells of has no row
--   value: what is said of it, in text with its unit; several values are parted by commas
--   weight: how much it matters where it differs: decides (other work or hardware: times compare that too), clouds (may move times) or tells (what may have been changed on purpose)
--   source_id: the source that says it; NULL when it follows from several, or from none
--   run_id: the run

WITH said AS (
    SELECT c.run_id, c.aspect, c.value, c.weight, c.source_id FROM run_condition c
    UNION ALL
    SELECT t.run_id, 'tag ' || t.key, t.value, 'tells', NULL FROM run_tag t
)
SELECT s.aspect, s.value, s.weight, s.source_id, s.run_id::VARCHAR AS run_id
FROM said s
WHERE s.run_id = run OR others IS NOT NULL AND list_contains(string_split(others, ',')::UUID[], s.run_id)
ORDER BY s.run_id, CASE s.weight WHEN 'decides' THEN 0 WHEN 'clouds' THEN 1 ELSE 2 END, s.aspect
