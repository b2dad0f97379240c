-- captured_work: Kernels, copies and fills of CUDA graph replays by the innermost range in which the program made their node, as a stream
--     capture does. Only for replays traced by node.
-- grain: one kernel name or operation on a GPU, made in a range, whose replays were launched in a stage
-- key: source_id, device_id, stage, range_id, is_known, kernel_name_id, operation
-- needs: graph_launch
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   stage VARCHAR: stage of the replay's launch; (none) outside every stage
--   range_id BIGINT: innermost range that was open on the thread that made the node, then; NULL when none was, and without is_known
--   is_known BOOLEAN: whether the capture has the making of the node
--   kernel_name_id BIGINT: kernel name; NULL for others
--   operation VARCHAR: operation of a copy or fill; NULL for kernels
--   call_count BIGINT: executions
--   total_ns BIGINT: sum of the durations
--   min_ns BIGINT: shortest
--   max_ns BIGINT: longest

WITH RECURSIVE open AS (
    SELECT
        n.source_id,
        n.pid,
        n.tid,
        n.start_ns,
        arg_max(n.range_id, p.depth) AS range_id -- of those that began together the innermost
    FROM nvtx_range n JOIN range_path p ON p.run_id = n.run_id AND p.path_id = n.path_id
    WHERE n.run_id = $run
        AND n.style = 'push_pop'
        AND (n.source_id, n.pid, n.tid) IN (SELECT (m.source_id, m.pid, m.tid) FROM _node_made m)
    GROUP BY n.source_id, n.pid, n.tid, n.start_ns
), around AS ( -- the range that began last, and those around it until one had not ended
    SELECT m.source_id, m.pid, m.graph_node_id, m.time_ns, o.range_id
    FROM _node_made m
    ASOF LEFT JOIN open o ON o.source_id = m.source_id AND o.pid = m.pid AND o.tid = m.tid AND o.start_ns <= m.time_ns
    UNION
    SELECT a.source_id, a.pid, a.graph_node_id, a.time_ns, n.parent_range_id
    FROM around a JOIN nvtx_range n ON n.run_id = $run AND n.range_id = a.range_id
    WHERE n.start_ns + n.duration_ns < a.time_ns
), made AS (
    SELECT a.source_id, a.pid, a.graph_node_id, n.range_id
    FROM around a LEFT JOIN nvtx_range n ON n.run_id = $run AND n.range_id = a.range_id
    WHERE n.range_id IS NULL OR n.duration_ns IS NULL OR n.start_ns + n.duration_ns >= a.time_ns
), work AS (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.graph_node_id,
        k.path_id,
        k.kernel_name_id,
        NULL::VARCHAR AS operation,
        k.duration_ns
    FROM kernel k
    WHERE k.run_id = $run AND k.graph_node_id IS NOT NULL
    UNION ALL
    SELECT
        m.source_id,
        m.pid,
        m.device_id,
        m.graph_node_id,
        m.path_id,
        NULL,
        m.operation,
        m.duration_ns
    FROM memop m
    WHERE m.run_id = $run AND m.graph_node_id IS NOT NULL
)
SELECT
    w.source_id,
    w.device_id,
    coalesce(s.stage, '(none)') AS stage,
    m.range_id,
    m.graph_node_id IS NOT NULL AS is_known,
    w.kernel_name_id,
    w.operation,
    count(*) AS call_count,
    sum(w.duration_ns)::BIGINT AS total_ns,
    min(w.duration_ns) AS min_ns,
    max(w.duration_ns) AS max_ns
FROM work w
LEFT JOIN made m ON m.source_id = w.source_id AND m.pid = w.pid AND m.graph_node_id = w.graph_node_id
LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = w.path_id
GROUP BY ALL
