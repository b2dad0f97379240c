-- _node_made: Nodes of CUDA graphs by where the program made them: for one of an executable graph the node that was captured or added, of
--     which it is a clone.
-- grain: one node whose making is in the source
-- key: source_id, pid, graph_node_id
-- needs: graph_node
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process
--   graph_node_id BIGINT: the node, as in kernel
--   tid INTEGER: thread that made the original
--   time_ns BIGINT: when

-- Nodes of an executable graph are clones of those of the graph that was captured, which may be clones again.
WITH RECURSIVE made AS MATERIALIZED (
    SELECT
        g.source_id,
        g.pid,
        g.graph_node_id,
        max(g.original_graph_node_id) AS original_id,
        arg_min(g.tid, g.time_ns) AS tid,
        min(g.time_ns) AS time_ns
    FROM graph_node g
    WHERE g.run_id = $run
    GROUP BY g.source_id, g.pid, g.graph_node_id
), origin AS (
    SELECT
        m.source_id,
        m.pid,
        m.graph_node_id,
        m.original_id,
        m.original_id AS next_id,
        m.tid,
        m.time_ns
    FROM made m
    WHERE m.original_id IS NOT NULL
    UNION -- not ALL: ends for a file in which nodes are clones in a circle
    SELECT r.source_id, r.pid, r.graph_node_id, r.original_id, m.original_id, m.tid, m.time_ns
    FROM origin r
    JOIN made m ON m.source_id = r.source_id AND m.pid = r.pid AND m.graph_node_id = r.next_id
)
SELECT r.source_id, r.pid, r.graph_node_id, r.tid, r.time_ns
FROM origin r
WHERE r.next_id IS NULL
