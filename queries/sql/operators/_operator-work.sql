-- _operator-work: Device work of the counted operator sources by operator, and the work outside operators.
-- grain: one operator, or one kind of work outside operators
-- key: operator, is_outside
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only work launched in this stage; (none) for work outside every stage
--   source VARCHAR = NULL: operators from torch (traces), nsys (emit_nvtx) or key_averages, which lacks work outside operators; default: the first of them that the run has
-- columns:
--   operator: operator; outside as in op_work
--   is_outside: whether it is work outside operators
--   work_count: kernels, copies, fills and replays traced as a whole
--   total_ns: sum of the durations

SELECT coalesce(w.outside, any_value(n.name)) AS operator, w.outside IS NOT NULL AS is_outside, sum(w.call_count)::BIGINT AS work_count, sum(w.total_ns)::BIGINT AS total_ns
FROM op_work w LEFT JOIN op_name n ON n.run_id = w.run_id AND n.op_name_id = w.op_name_id
WHERE w.run_id = run AND (stage IS NULL OR w.stage = stage) AND w.source_id IN (SELECT c.source_id FROM _operator_source(run, source := source) c WHERE c.capture <> 'key_averages')
GROUP BY w.op_name_id, w.outside
