-- _lost_replay: Replays of CUDA graphs, traced by node, that lack kernels which other replays of the same executable graph have.
-- grain: one replay on one GPU
-- key: source_id, pid, device_id, correlation_id
-- needs: graph_launch
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_id INTEGER: GPU
--   correlation_id BIGINT: ties it to its launch within its process
--   range_context_id BIGINT: the set of ranges it was launched in; NULL when the launch is not captured
--   path_id BIGINT: the path of names of these ranges
--   item_count BIGINT: kernels that it lacks
--   of_count BIGINT: kernels of the graph

-- Every replay runs every node once, but those in the bodies of conditional nodes: graphs that have some are left alone, and those whose
-- replays have as many kernels each.
WITH uneven AS (
    SELECT g.source_id, g.pid, g.device_id, g.graph_id
    FROM graph_launch g
    WHERE g.run_id = $run AND g.mode = 'node' AND g.graph_id IS NOT NULL
    GROUP BY ALL
    HAVING min(g.kernel_count) < max(g.kernel_count) AND max(g.body_count) = 0
), node AS (
    SELECT
        u.source_id,
        u.pid,
        u.device_id,
        u.graph_id,
        count(DISTINCT k.graph_node_id) AS nodes
    FROM uneven u
    JOIN kernel k
        ON k.run_id = $run
        AND k.source_id = u.source_id
        AND k.pid = u.pid
        AND k.device_id = u.device_id
        AND k.graph_node_id >> 32 = u.graph_id
    GROUP BY ALL
)
SELECT
    g.source_id,
    g.pid,
    g.device_id,
    g.correlation_id,
    g.range_context_id,
    g.path_id,
    n.nodes - g.kernel_count AS item_count,
    n.nodes AS of_count
FROM graph_launch g
JOIN node n ON n.source_id = g.source_id AND n.pid = g.pid AND n.device_id = g.device_id AND n.graph_id = g.graph_id
WHERE g.run_id = $run AND g.mode = 'node' AND g.kernel_count < n.nodes
