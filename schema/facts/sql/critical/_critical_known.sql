-- _critical_known: The steps of whose critical path next to nothing is unknown or of work before the step.
-- grain: one step
-- key: step_id
-- needs: critical_step
-- columns:
--   step_id BIGINT: as in critical_step

SELECT s.step_id
FROM critical_step s
JOIN critical_what_if w ON w.run_id = s.run_id AND w.step_id = s.step_id AND w.grouping_kind = 'subject'
WHERE s.run_id = $run
GROUP BY s.step_id, s.duration_ns
HAVING coalesce(sum(w.duration_ns) FILTER (w.cause IN ('unknown', 'earlier')), 0) < 0.01 * s.duration_ns
