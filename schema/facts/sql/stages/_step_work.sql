-- _step_work: Device work of the sources whose steps are by time, in the order in which it began.
-- grain: one kernel, copy, fill or graph replay
-- key: place, start_ns, is_replay, work_id
-- needs: kernel|memop|graph_launch _step_source
-- columns:
--   place UBIGINT: process and GPU of a source
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when the launch was not captured
--   device_id INTEGER: GPU
--   start_ns BIGINT: start on the GPU
--   duration_ns BIGINT: time it took; 0 for a replay whose kernels were traced, which have rows of their own
--   is_replay BOOLEAN: whether it is a graph replay
--   work_id BIGINT: kernel_name_id of a kernel; of a replay its graph, or what it holds where that is not said; NULL for a copy or fill
--   path_id BIGINT: path of names of the ranges that it was launched in
--   launch_start_ns BIGINT: start of the launching API call; NULL when it was not captured

WITH w AS (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.start_ns,
        k.duration_ns,
        false AS is_replay,
        k.kernel_name_id AS work_id,
        k.path_id,
        k.launch_start_ns
    FROM kernel k
    WHERE k.run_id = $run
    UNION ALL
    SELECT
        m.source_id,
        m.pid,
        m.device_id,
        m.start_ns,
        m.duration_ns,
        false,
        NULL,
        m.path_id,
        m.launch_start_ns
    FROM memop m
    WHERE m.run_id = $run
    UNION ALL
    SELECT
        g.source_id,
        g.pid,
        g.device_id,
        g.start_ns,
        CASE g.mode WHEN 'graph' THEN g.duration_ns ELSE 0 END,
        true,
        coalesce(g.graph_id, g.kernel_count * 1000 + g.memop_count, 0),
        g.path_id,
        g.launch_start_ns
    FROM graph_launch g
    WHERE g.run_id = $run
)
SELECT
    hash(w.source_id, w.pid, w.device_id) AS place,
    w.source_id,
    w.pid,
    w.device_id,
    w.start_ns,
    w.duration_ns,
    w.is_replay,
    w.work_id,
    w.path_id,
    w.launch_start_ns
FROM w
WHERE w.source_id IN (SELECT s.source_id FROM _step_source s)
ORDER BY place, w.start_ns, w.is_replay DESC, w.work_id
