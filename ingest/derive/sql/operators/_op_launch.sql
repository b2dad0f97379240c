-- _op_launch: Operator calls that launched device work themselves, summed by inputs. Graph replays are no calls.
-- grain: one operator and inputs in a source and stage, with or without copies to or from the host or another GPU
-- key: source_id, op_name_id, op_input_id, stage, leaves_device
-- needs: op
-- columns:
--   source_id INTEGER: the source
--   op_name_id BIGINT: operator name
--   op_input_id BIGINT: inputs; NULL when not recorded
--   stage VARCHAR: stage of the calls; (none) outside every stage
--   leaves_device BOOLEAN: whether some of the work is a copy to or from the host or another GPU
--   call_count BIGINT: number of calls
--   self_device_ns BIGINT: device time of the work they launched themselves

WITH away AS (
    SELECT DISTINCT m.op_id FROM memop m WHERE m.run_id = $run AND m.op_id > 0 AND starts_with(m.operation, 'memcpy ') AND m.operation <> 'memcpy Device-to-Device'
)
SELECT o.source_id, o.op_name_id, o.op_input_id, coalesce(s.stage, '(none)') AS stage, a.op_id IS NOT NULL AS leaves_device,
    count(*) AS call_count, sum(o.self_device_ns)::BIGINT AS self_device_ns
FROM op o
LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = o.path_id
LEFT JOIN away a ON a.op_id = o.op_id
WHERE o.run_id = $run AND o.self_work_count > 0
GROUP BY ALL
