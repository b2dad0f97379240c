-- operator-callers v1: Which operators call an operator directly, by device time.
-- grain: one operator and caller
-- key: operator, caller
-- notes: operators operator-calls
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: only operators that match one of these globs, separated by commas
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only operators called in this stage; (none) for calls outside every stage
--   {operator source}
-- columns:
--   operator: operator name
--   caller: operator that called it; (none) when no operator did
--   calls: calls from that caller; an operator that only calls another of the same name counts as one call with it
--   total_device_ns: device time of the work launched by these calls and by operators inside them; NULL when no device work was recorded
--   total_cpu_ns: CPU time of these calls
--   mean_cpu_ns: mean CPU time of such a call
--   share_ratio: share of the operator's calls

WITH t AS (
    SELECT
        any_value(n.name) AS operator,
        coalesce(any_value(w.name), '(none)') AS caller,
        sum(s.call_count)::BIGINT AS calls,
        sum(s.call_device_ns)::BIGINT AS total_device_ns,
        sum(s.call_cpu_ns)::BIGINT AS total_cpu_ns
    FROM op_sum s
    JOIN op_name n ON n.run_id = run AND n.op_name_id = s.op_name_id
    LEFT JOIN op_name w ON w.run_id = run AND w.op_name_id = s.caller_op_name_id
    WHERE s.run_id = run
        AND s.call_count > 0
        AND s.source_id IN (
            SELECT c.source_id
            FROM _operator_source(run, source := source) c
            WHERE c.capture <> 'key_averages'
        )
        AND (stage IS NULL OR s.stage = stage)
        AND _fits(n.name, operator)
    GROUP BY s.op_name_id, s.caller_op_name_id
)
SELECT
    t.operator,
    t.caller,
    t.calls,
    t.total_device_ns,
    t.total_cpu_ns,
    t.total_cpu_ns / t.calls AS mean_cpu_ns,
    t.calls / sum(t.calls) OVER (PARTITION BY t.operator) AS share_ratio
FROM t
QUALIFY top = 0 OR row_number() OVER (ORDER BY t.total_device_ns DESC, t.total_cpu_ns DESC, t.operator, t.caller) <= top
ORDER BY t.total_device_ns DESC, t.total_cpu_ns DESC, t.operator, t.caller
