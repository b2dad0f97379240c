-- run_condition: What two runs must have in common to be compared by their code alone, but for tags: hardware and its state, work, software, and how they were captured.
-- grain: one aspect of a run
-- key: aspect
-- columns:
--   aspect VARCHAR: GPU, driver, prompt tokens, nsys trace, torch with_stack (on; off has no row), package torch, variable CUDA_LAUNCH_BLOCKING, ...; one that no source names has no row
--   value VARCHAR: in text with its unit; several values are separated by commas
--   weight VARCHAR: how much it matters where it differs: decides, clouds or tells
--   source_id INTEGER: the source that says it; NULL when it follows from several, or from none

WITH said AS (
    SELECT m.run_id, m.source_id, m.priority, m.aspect, m.value, m.weight FROM _condition_machine m
    UNION ALL SELECT s.run_id, s.source_id, s.priority, s.aspect, s.value, s.weight FROM _condition_sample s
    UNION ALL SELECT w.run_id, w.source_id, w.priority, w.aspect, w.value, w.weight FROM _condition_work w
    UNION ALL SELECT p.run_id, p.source_id, p.priority, p.aspect, p.value, p.weight FROM _condition_precision p
    UNION ALL SELECT f.run_id, f.source_id, f.priority, f.aspect, f.value, f.weight FROM _condition_fact f
    UNION ALL SELECT c.run_id, c.source_id, c.priority, c.aspect, c.value, c.weight FROM _condition_capture c
), best AS (
    SELECT x.run_id, x.aspect, x.value, x.weight, x.source_id
    FROM said x
    WHERE x.value IS NOT NULL AND x.run_id = $run
    QUALIFY x.priority = min(x.priority) OVER (PARTITION BY x.run_id, x.aspect)
)
SELECT b.aspect, string_agg(DISTINCT b.value, ', ' ORDER BY b.value) AS value, min(b.weight) AS weight, CASE WHEN count(DISTINCT b.source_id) = 1 AND count(b.source_id) = count(*) THEN min(b.source_id) END AS source_id
FROM best b
GROUP BY b.aspect
