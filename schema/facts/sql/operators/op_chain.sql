-- op_chain: Call tree of operators: calls with the same operators around them are merged. A graph replay counts in its own stage, with the
--     operators that captured its nodes.
-- grain: one chain of operator names, each called by the previous one, and stage in a source
-- key: chain_id
-- needs: op
-- columns:
--   chain_id BIGINT: 63-bit hash of the source, the stage and the names
--   source_id INTEGER: the source
--   stage VARCHAR: stage of the outermost operator; (none) outside every stage
--   op_name_ids BIGINT[]: names of the operators, outermost first
--   call_count BIGINT: number of calls; unlike in op_sum, an operator that only calls another of the same name counts
--   total_device_ns BIGINT: device time of the work launched by the last operator and by operators inside it; NULL when no device work was
--     recorded
--   self_device_ns BIGINT: device time excluding operators inside it
--   total_cpu_ns BIGINT: CPU time
--   self_cpu_ns BIGINT: CPU time, excluding the operators and CUDA API calls inside it

WITH RECURSIVE call AS (
    SELECT
        c.chain_id,
        min(c.parent_chain_id) AS parent_chain_id,
        min(o.source_id) AS source_id,
        min(c.stage) AS stage,
        min(o.op_name_id) AS op_name_id,
        count(*) AS call_count,
        sum(o.total_device_ns)::BIGINT AS total_device_ns,
        sum(o.self_device_ns)::BIGINT AS self_device_ns,
        sum(o.duration_ns)::BIGINT AS total_cpu_ns,
        sum(o.self_cpu_ns)::BIGINT AS self_cpu_ns
    FROM _op_call c JOIN op o ON o.run_id = $run AND o.op_id = c.op_id
    GROUP BY c.chain_id
    UNION ALL
    SELECT
        r.chain_id,
        r.parent_chain_id,
        o.source_id,
        CASE WHEN r.level = 1 THEN r.root_stage END,
        o.op_name_id,
        0,
        r.total_ns,
        CASE WHEN r.is_leaf THEN r.total_ns ELSE 0 END,
        0,
        0
    FROM _op_replay r JOIN op o ON o.run_id = $run AND o.op_id = r.op_id
), node AS MATERIALIZED (
    SELECT
        x.chain_id,
        min(x.parent_chain_id) AS parent_chain_id,
        min(x.source_id) AS source_id,
        min(x.stage) AS stage,
        min(x.op_name_id) AS op_name_id,
        sum(x.call_count)::BIGINT AS call_count,
        sum(x.total_device_ns)::BIGINT AS total_device_ns,
        sum(x.self_device_ns)::BIGINT AS self_device_ns,
        sum(x.total_cpu_ns)::BIGINT AS total_cpu_ns,
        sum(x.self_cpu_ns)::BIGINT AS self_cpu_ns
    FROM call x
    GROUP BY x.chain_id
), w AS (
    SELECT
        x.chain_id,
        x.stage,
        [x.op_name_id] AS op_name_ids
    FROM node x
    WHERE x.parent_chain_id IS NULL
    UNION ALL
    SELECT
        x.chain_id,
        w.stage,
        list_append(w.op_name_ids, x.op_name_id)
    FROM w JOIN node x ON x.parent_chain_id = w.chain_id
)
SELECT
    x.chain_id,
    x.source_id,
    w.stage,
    w.op_name_ids,
    x.call_count,
    x.total_device_ns,
    x.self_device_ns,
    x.total_cpu_ns,
    x.self_cpu_ns
FROM node x JOIN w ON w.chain_id = x.chain_id
