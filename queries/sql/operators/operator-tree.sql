-- operator-tree v1: The tree of operators by what called them: calls with the same names around them are added up.
-- grain: one chain of operator names, each called by the one before it
-- key: rank
-- notes: operators operator-calls outside
-- params:
--   run VARCHAR: the run
--   root VARCHAR = NULL: begin with the operators that fit one of these globs (commas between); by default with those that no operator called
--   depth BIGINT = 5: levels at most; 0 for all
--   min_ratio DOUBLE = 0.001: leave out branches with a smaller share_ratio
--   stage VARCHAR = NULL: only trees whose first operator was called in this stage; (none) for those outside every stage
--   source VARCHAR = NULL: operators of torch (traces) or nsys (emit_nvtx); by default the first of them that the run has
-- columns:
--   rank: place in the tree from the top; of one operator's branches the one of the most device time is first, then of the most CPU time
--   operator: name, two spaces for each level inside
--   depth: level; 1 for a first operator
--   calls: calls; unlike in top-operators one that did nothing but call the operator of the same name counts, and has that one as its branch
--   total_device_ns: time of the device work launched by it or by operators inside it
--   self_device_ns: time of the device work launched by it but not by operators inside it
--   total_cpu_ns: time on the CPU
--   self_cpu_ns: time on the CPU less that in the operators and CUDA API calls inside it
--   share_ratio: total_device_ns as a share of that of all first operators; without device time total_cpu_ns likewise

WITH RECURSIVE node AS (
    SELECT c.chain_id, min(c.parent_chain_id) AS parent_chain_id, min(c.op_name_id) AS op_name_id, min(c.depth) AS level, count(*) AS calls,
        sum(o.total_device_ns)::BIGINT AS total_device_ns, sum(o.self_device_ns)::BIGINT AS self_device_ns, sum(o.duration_ns)::BIGINT AS total_cpu_ns, sum(o.self_cpu_ns)::BIGINT AS self_cpu_ns
    FROM _operator_chain(run, root := root, depth := depth, stage := stage, source := source) c
    JOIN op o ON o.run_id = run AND o.op_id = c.op_id
    GROUP BY c.chain_id
), whole AS (
    SELECT sum(x.total_device_ns) AS device_ns, sum(x.total_cpu_ns) AS cpu_ns FROM node x WHERE x.level = 1
), share AS (
    SELECT x.chain_id, CASE WHEN w.device_ns > 0 THEN x.total_device_ns / w.device_ns ELSE x.total_cpu_ns / nullif(w.cpu_ns, 0) END AS share_ratio
    FROM node x, whole w
), kept AS (
    SELECT x.chain_id, x.parent_chain_id, x.level, n.name, x.calls, x.total_device_ns, x.self_device_ns, x.total_cpu_ns, x.self_cpu_ns, s.share_ratio,
        row_number() OVER (PARTITION BY x.parent_chain_id ORDER BY x.total_device_ns DESC, x.total_cpu_ns DESC, n.name) AS place
    FROM node x JOIN share s ON s.chain_id = x.chain_id JOIN op_name n ON n.run_id = run AND n.op_name_id = x.op_name_id
    WHERE coalesce(s.share_ratio, 1) >= min_ratio
), w AS (
    SELECT k.chain_id, [k.place] AS places FROM kept k WHERE k.level = 1
    UNION ALL
    SELECT k.chain_id, list_append(w.places, k.place) FROM w JOIN kept k ON k.parent_chain_id = w.chain_id
)
SELECT row_number() OVER (ORDER BY w.places) AS rank, repeat('  ', k.level - 1) || k.name AS operator, k.level AS depth, k.calls, k.total_device_ns, k.self_device_ns,
    k.total_cpu_ns, k.self_cpu_ns, k.share_ratio
FROM w JOIN kept k ON k.chain_id = w.chain_id
ORDER BY rank
