-- operator-callers v1: Who calls an operator: the operators directly around its calls, by device time.
-- grain: one operator and caller
-- key: operator, caller
-- notes: operators operator-calls
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: only operators that fit one of these globs (commas between)
--   top BIGINT = 20: rows at most; 0 for all
--   stage VARCHAR = NULL: only operators called in this stage; (none) for those outside every stage
--   source VARCHAR = NULL: operators of torch (traces) or nsys (emit_nvtx); by default the first of them that the run has
-- columns:
--   operator: name
--   caller: operator that called it; (none) where no operator did
--   calls: its calls from there; one that did nothing but call the operator of the same name is one call with it
--   total_device_ns: time of the device work launched by these calls or by operators inside them; NULL when no device work was recorded
--   total_cpu_ns: their time on the CPU
--   mean_cpu_ns: mean time of such a call on the CPU
--   share_ratio: calls as a share of the operator's

WITH call AS (
    SELECT o.op_name_id, p.op_name_id AS caller_name_id, count(*) AS calls, sum(o.total_device_ns)::BIGINT AS total_device_ns, sum(o.duration_ns)::BIGINT AS total_cpu_ns
    FROM op o
    LEFT JOIN op p ON p.run_id = o.run_id AND p.op_id = o.parent_op_id
    LEFT JOIN path_stage s ON s.run_id = o.run_id AND s.path_id = o.path_id
    WHERE o.run_id = run AND NOT o.is_folded AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
        AND o.source_id IN (SELECT c.source_id FROM _operator_source(run, source := source) c WHERE c.capture <> 'key_averages')
    GROUP BY o.op_name_id, p.op_name_id
), named AS (
    SELECT n.name AS operator, coalesce(w.name, '(none)') AS caller, c.calls, c.total_device_ns, c.total_cpu_ns, c.op_name_id
    FROM call c
    JOIN op_name n ON n.run_id = run AND n.op_name_id = c.op_name_id
    LEFT JOIN op_name w ON w.run_id = n.run_id AND w.op_name_id = c.caller_name_id
    WHERE _fits(n.name, operator)
), whole AS (
    SELECT x.op_name_id, sum(x.calls) AS calls FROM call x GROUP BY x.op_name_id
)
SELECT n.operator, n.caller, n.calls, n.total_device_ns, n.total_cpu_ns, n.total_cpu_ns / n.calls AS mean_cpu_ns, n.calls / w.calls AS share_ratio
FROM named n JOIN whole w ON w.op_name_id = n.op_name_id
QUALIFY top = 0 OR row_number() OVER (ORDER BY n.total_device_ns DESC, n.total_cpu_ns DESC, n.operator, n.caller) <= top
ORDER BY n.total_device_ns DESC, n.total_cpu_ns DESC, n.operator, n.caller
