-- _node_op: Nodes of executable CUDA graphs by the operator that they were captured in.
-- grain: one node whose capture is in the source
-- key: source_id, pid, graph_node_id
-- needs: op _node_made
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process
--   graph_node_id BIGINT: the node, as in kernel
--   op_id BIGINT: innermost operator that was open when the original of the node was made, on the thread that made it; 0 when none was

WITH RECURSIVE began AS ( -- of those that began together the innermost
    SELECT
        o.source_id,
        o.pid,
        o.tid,
        o.start_ns,
        arg_max(o.op_id, o.depth) AS op_id
    FROM op o
    WHERE o.run_id = $run AND (o.source_id, o.pid, o.tid) IN (SELECT (f.source_id, f.pid, f.tid) FROM _node_made f)
    GROUP BY o.source_id, o.pid, o.tid, o.start_ns
), around AS ( -- the operator that began last, and those around it until one had not ended
    SELECT f.source_id, f.pid, f.graph_node_id, f.time_ns, b.op_id
    FROM _node_made f
    ASOF LEFT JOIN began b ON b.source_id = f.source_id AND b.pid = f.pid AND b.tid = f.tid AND b.start_ns <= f.time_ns
    WHERE f.source_id IN (SELECT o.source_id FROM op o WHERE o.run_id = $run)
    UNION
    SELECT a.source_id, a.pid, a.graph_node_id, a.time_ns, o.parent_op_id
    FROM around a JOIN op o ON o.run_id = $run AND o.op_id = a.op_id
    WHERE o.start_ns + o.duration_ns < a.time_ns
)
SELECT
    a.source_id,
    a.pid,
    a.graph_node_id,
    coalesce(o.op_id, 0) AS op_id
FROM around a LEFT JOIN op o ON o.run_id = $run AND o.op_id = a.op_id
WHERE o.op_id IS NULL OR o.start_ns + o.duration_ns >= a.time_ns
