-- op_work: The kernels, copies and fills that operators end up in, added up.
-- grain: one kernel name or operation of one chain of operators, or of none, launched in a stage
-- key: source_id, chain_id, operator, stage, kernel_name_id, operation
-- needs: op
-- columns:
--   source_id INTEGER: the source
--   chain_id BIGINT: the operators around the launch, as in op_chain; NULL where none is known
--   operator VARCHAR: the innermost of them; (none) for work launched outside every operator, (no launch) when the launch was not captured
--   outermost VARCHAR: the outermost of them; likewise
--   stage VARCHAR: stage that it was launched in; (none) outside every stage
--   kernel_name_id BIGINT: name of a kernel; NULL for copies and fills
--   operation VARCHAR: of a copy or fill; NULL for kernels
--   call_count BIGINT: executions
--   total_ns BIGINT: sum of their durations
--   min_ns BIGINT: the shortest
--   max_ns BIGINT: the longest

WITH work AS (
    SELECT k.source_id, k.op_id, k.path_id, k.kernel_name_id, NULL::VARCHAR AS operation, k.duration_ns FROM kernel k WHERE k.run_id = $run
    UNION ALL
    SELECT m.source_id, m.op_id, m.path_id, NULL, m.operation, m.duration_ns FROM memop m WHERE m.run_id = $run
), t AS (
    SELECT w.source_id, c.chain_id, CASE WHEN w.op_id IS NULL THEN '(no launch)' WHEN w.op_id = 0 THEN '(none)' END AS outside, coalesce(s.stage, '(none)') AS stage, w.kernel_name_id, w.operation,
        count(*) AS call_count, sum(w.duration_ns)::BIGINT AS total_ns, min(w.duration_ns) AS min_ns, max(w.duration_ns) AS max_ns
    FROM work w
    LEFT JOIN _op_call c ON c.op_id = w.op_id
    LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = w.path_id
    WHERE w.source_id IN (SELECT x.source_id FROM op_source x WHERE x.run_id = $run AND x.capture <> 'key_averages')
    GROUP BY ALL
)
SELECT t.source_id, t.chain_id, coalesce(t.outside, c.names[-1]) AS operator, coalesce(t.outside, c.names[1]) AS outermost, t.stage, t.kernel_name_id, t.operation, t.call_count, t.total_ns, t.min_ns, t.max_ns
FROM t
LEFT JOIN op_chain c ON c.run_id = $run AND c.chain_id = t.chain_id
