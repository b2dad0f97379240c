-- _operator-work: The device work of the captures whose operators are counted, by the operator it belongs to, and what belongs to none.
-- grain: one operator, or kind of work outside all of them
-- key: operator, is_outside
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only work launched in this stage; (none) for that outside every stage
--   source VARCHAR = NULL: operators of torch (traces), nsys (emit_nvtx) or key_averages, which says nothing of work outside them; by default the first of them that the run has
-- columns:
--   operator: as in op_work
--   is_outside: whether it is of no operator
--   work_count: kernels, copies, fills and replays traced as a whole
--   total_ns: sum of their durations

SELECT w.operator, w.chain_id IS NULL AS is_outside, sum(w.call_count)::BIGINT AS work_count, sum(w.total_ns)::BIGINT AS total_ns
FROM op_work w
WHERE w.run_id = run AND (stage IS NULL OR w.stage = stage) AND w.source_id IN (SELECT c.source_id FROM _operator_source(run, source := source) c WHERE c.capture <> 'key_averages')
GROUP BY w.operator, w.chain_id IS NULL
