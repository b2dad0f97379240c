-- _op_launch: Operator calls that launched device work themselves, and executions of captured calls by graph replays, summed by inputs.
-- grain: one operator and inputs in a source and stage, with or without copies to or from the host or another GPU
-- key: source_id, op_name_id, op_input_id, stage, leaves_device, has_inputs
-- needs: op
-- columns:
--   source_id INTEGER: the source of the work
--   op_name_id BIGINT: operator name
--   op_input_id BIGINT: inputs; NULL when not recorded, and without has_inputs
--   stage VARCHAR: stage of the calls, or of the launches of replays; (none) outside every stage
--   leaves_device BOOLEAN: whether some of the work is a copy to or from the host or another GPU
--   has_inputs BOOLEAN: whether the inputs are known so far as recorded: graphs that look the same may have been captured with several
--   call_count BIGINT: number of calls
--   replay_count BIGINT: number of executions by replays
--   self_device_ns BIGINT: device time of the work that the calls launched themselves, and of these executions
--   replay_ns BIGINT: part of it from replays

WITH away AS (
    SELECT DISTINCT m.op_id
    FROM memop m
    WHERE m.run_id = $run
        AND m.op_id > 0
        AND starts_with(m.operation, 'memcpy ')
        AND m.operation <> 'memcpy Device-to-Device'
    UNION
    SELECT r.op_id
    FROM _replayed r
    WHERE starts_with(r.operation, 'memcpy ') AND r.operation <> 'memcpy Device-to-Device'
), taken AS ( -- a call that launched a replay has only the rest
    SELECT r.leaf_op_id, r.total_ns, r.work_count
    FROM _op_replay r
    WHERE NOT r.is_added AND r.is_leaf
), part AS (
    SELECT
        o.source_id,
        o.op_name_id,
        o.op_input_id,
        o.path_id,
        o.op_id,
        true AS has_inputs,
        1 AS call_count,
        0 AS replay_count,
        o.self_device_ns + coalesce(t.total_ns, 0) AS self_device_ns,
        0 AS replay_ns
    FROM op o LEFT JOIN taken t ON t.leaf_op_id = o.op_id
    WHERE o.run_id = $run AND o.self_work_count + coalesce(t.work_count, 0) > 0
    UNION ALL
    SELECT
        r.source_id,
        o.op_name_id,
        CASE WHEN r.has_inputs THEN o.op_input_id END,
        r.path_id,
        o.op_id,
        r.has_inputs,
        0,
        r.begins_call::INTEGER,
        r.duration_ns,
        r.duration_ns
    FROM _replayed r JOIN op o ON o.run_id = $run AND o.op_id = r.op_id
    WHERE r.op_id IS DISTINCT FROM r.launched_op_id
)
SELECT
    p.source_id,
    p.op_name_id,
    p.op_input_id,
    coalesce(s.stage, '(none)') AS stage,
    a.op_id IS NOT NULL AS leaves_device,
    p.has_inputs,
    sum(p.call_count)::BIGINT AS call_count,
    sum(p.replay_count)::BIGINT AS replay_count,
    sum(p.self_device_ns)::BIGINT AS self_device_ns,
    sum(p.replay_ns)::BIGINT AS replay_ns
FROM part p
LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = p.path_id
LEFT JOIN away a ON a.op_id = p.op_id
GROUP BY p.source_id, p.op_name_id, p.op_input_id, coalesce(s.stage, '(none)'), a.op_id IS NOT NULL, p.has_inputs
