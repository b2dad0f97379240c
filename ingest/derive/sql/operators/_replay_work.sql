-- _replay_work: Kernels, copies and fills of CUDA graph replays whose capture may be in the run, where the trace does not name the nodes.
-- grain: one kernel, copy or fill
-- key: source_id, pid, device_id, correlation_id, start_ns
-- needs: captured_launch
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_id INTEGER: GPU
--   correlation_id BIGINT: its launch
--   launch_start_ns BIGINT: start of the launch
--   start_ns BIGINT: start on the GPU
--   duration_ns BIGINT: time it took
--   work_number BIGINT: 1, 2, ... within the replay, by start
--   kind VARCHAR: kernel, copy or fill
--   kernel_name_id BIGINT: kernel name; NULL for others
--   kernel_shape_id BIGINT: launch shape; NULL when not recorded, and for others
--   replay_id BIGINT: replays of one process with the same work have the same: in the same order where one stream has all of it
--   is_single BOOLEAN: whether one stream has all of the replay
--   is_ordered BOOLEAN: whether no two start at the same time

WITH launch AS (
    SELECT a.api_name_id FROM api_name a WHERE a.run_id = $run AND contains(a.name, 'GraphLaunch')
), traced AS (
    SELECT x.source_id FROM op_source x WHERE x.run_id = $run AND x.capture = 'torch'
), work AS (
    SELECT k.source_id, k.pid, k.device_id, k.correlation_id, k.launch_start_ns, k.start_ns, k.duration_ns, k.stream_id, 'kernel' AS kind, k.kernel_name_id, k.kernel_shape_id
    FROM kernel k
    WHERE k.run_id = $run AND k.graph_node_id IS NULL AND k.launch_name_id IN (SELECT a.api_name_id FROM launch a) AND k.source_id IN (SELECT t.source_id FROM traced t)
    UNION ALL
    SELECT m.source_id, m.pid, m.device_id, m.correlation_id, m.launch_start_ns, m.start_ns, m.duration_ns, m.stream_id, CASE WHEN starts_with(m.operation, 'memset') THEN 'fill' ELSE 'copy' END, NULL, NULL
    FROM memop m
    WHERE m.run_id = $run AND m.graph_node_id IS NULL AND m.launch_name_id IN (SELECT a.api_name_id FROM launch a) AND m.source_id IN (SELECT t.source_id FROM traced t)
), marked AS (
    SELECT w.source_id, w.pid, w.device_id, w.correlation_id, w.launch_start_ns, w.start_ns, w.duration_ns, w.stream_id, w.kind, w.kernel_name_id, w.kernel_shape_id, hash(w.kind, w.kernel_name_id, w.kernel_shape_id) AS mark
    FROM work w
), replay AS (
    SELECT m.source_id, m.pid, m.device_id, m.correlation_id, min(m.stream_id) = max(m.stream_id) AS is_single, count(DISTINCT m.start_ns) = count(*) AS is_ordered,
        list(m.mark ORDER BY m.start_ns, m.mark) AS ordered, list(m.mark ORDER BY m.mark) AS sorted
    FROM marked m
    GROUP BY m.source_id, m.pid, m.device_id, m.correlation_id
)
SELECT m.source_id, m.pid, m.device_id, m.correlation_id, m.launch_start_ns, m.start_ns, m.duration_ns,
    row_number() OVER (PARTITION BY m.source_id, m.pid, m.device_id, m.correlation_id ORDER BY m.start_ns, m.mark) AS work_number, m.kind, m.kernel_name_id, m.kernel_shape_id,
    (hash(m.source_id, m.pid, r.is_single, r.is_ordered, CASE WHEN r.is_single THEN r.ordered ELSE r.sorted END) >> 1)::BIGINT AS replay_id, r.is_single, r.is_ordered
FROM marked m
JOIN replay r ON r.source_id = m.source_id AND r.pid = m.pid AND r.device_id = m.device_id AND r.correlation_id = m.correlation_id
