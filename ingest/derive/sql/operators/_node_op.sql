-- _node_op: Nodes of executable CUDA graphs by the operator that they were captured in.
-- grain: one node whose capture is in the source
-- key: source_id, pid, graph_node_id
-- needs: op graph_node
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process
--   graph_node_id BIGINT: the node, as in kernel
--   op_id BIGINT: innermost operator that was open when the original of the node was made, on the thread that made it; 0 when none was

-- Nodes of an executable graph are clones of those of the graph that was captured, which may be clones again.
WITH RECURSIVE made AS MATERIALIZED (
    SELECT g.source_id, g.pid, g.graph_node_id, max(g.original_graph_node_id) AS original_id, arg_min(g.tid, g.time_ns) AS tid, min(g.time_ns) AS time_ns
    FROM graph_node g WHERE g.run_id = $run AND g.source_id IN (SELECT o.source_id FROM op o WHERE o.run_id = $run)
    GROUP BY g.source_id, g.pid, g.graph_node_id
), origin AS (
    SELECT m.source_id, m.pid, m.graph_node_id, m.original_id, m.original_id AS next_id, m.tid, m.time_ns FROM made m WHERE m.original_id IS NOT NULL
    UNION -- not ALL: ends for a file in which nodes are clones in a circle
    SELECT r.source_id, r.pid, r.graph_node_id, r.original_id, m.original_id, m.tid, m.time_ns
    FROM origin r JOIN made m ON m.source_id = r.source_id AND m.pid = r.pid AND m.graph_node_id = r.next_id
), first AS (
    SELECT r.source_id, r.pid, r.graph_node_id, r.tid, r.time_ns FROM origin r WHERE r.next_id IS NULL
), began AS ( -- of those that began together the innermost
    SELECT o.source_id, o.pid, o.tid, o.start_ns, arg_max(o.op_id, o.depth) AS op_id FROM op o
    WHERE o.run_id = $run AND (o.source_id, o.pid, o.tid) IN (SELECT (f.source_id, f.pid, f.tid) FROM first f)
    GROUP BY o.source_id, o.pid, o.tid, o.start_ns
), around AS ( -- the operator that began last, and those around it until one had not ended
    SELECT f.source_id, f.pid, f.graph_node_id, f.time_ns, b.op_id
    FROM first f ASOF LEFT JOIN began b ON b.source_id = f.source_id AND b.pid = f.pid AND b.tid = f.tid AND b.start_ns <= f.time_ns
    UNION
    SELECT a.source_id, a.pid, a.graph_node_id, a.time_ns, o.parent_op_id
    FROM around a JOIN op o ON o.run_id = $run AND o.op_id = a.op_id WHERE o.start_ns + o.duration_ns < a.time_ns
)
SELECT a.source_id, a.pid, a.graph_node_id, coalesce(o.op_id, 0) AS op_id
FROM around a LEFT JOIN op o ON o.run_id = $run AND o.op_id = a.op_id
WHERE o.op_id IS NULL OR o.start_ns + o.duration_ns >= a.time_ns
