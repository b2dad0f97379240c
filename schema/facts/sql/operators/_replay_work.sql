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
    SELECT a.api_name_id
    FROM api_name a
    WHERE a.run_id = $run AND contains(a.name, 'GraphLaunch')
), traced AS (
    SELECT x.source_id
    FROM op_source x
    WHERE x.run_id = $run AND x.capture = 'torch'
), work AS (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.correlation_id,
        k.launch_start_ns,
        k.start_ns,
        k.duration_ns,
        k.stream_id,
        'kernel' AS kind,
        k.kernel_name_id,
        k.kernel_shape_id
    FROM kernel k
    WHERE k.run_id = $run
        AND k.graph_node_id IS NULL
        AND k.launch_name_id IN (SELECT a.api_name_id FROM launch a)
        AND k.source_id IN (SELECT t.source_id FROM traced t)
    UNION ALL
    SELECT
        m.source_id,
        m.pid,
        m.device_id,
        m.correlation_id,
        m.launch_start_ns,
        m.start_ns,
        m.duration_ns,
        m.stream_id,
        CASE WHEN starts_with(m.operation, 'memset') THEN 'fill' ELSE 'copy' END,
        NULL,
        NULL
    FROM memop m
    WHERE m.run_id = $run
        AND m.graph_node_id IS NULL
        AND m.launch_name_id IN (SELECT a.api_name_id FROM launch a)
        AND m.source_id IN (SELECT t.source_id FROM traced t)
), marked AS (
    SELECT
        w.source_id,
        w.pid,
        w.device_id,
        w.correlation_id,
        w.launch_start_ns,
        w.start_ns,
        w.duration_ns,
        w.stream_id,
        w.kind,
        w.kernel_name_id,
        w.kernel_shape_id,
        hash(w.kind, w.kernel_name_id, w.kernel_shape_id) AS mark
    FROM work w
), placed AS ( -- windows spill to disk; lists and distinct counts of whole replays do not
    SELECT
        m.source_id,
        m.pid,
        m.device_id,
        m.correlation_id,
        m.launch_start_ns,
        m.start_ns,
        m.duration_ns,
        m.stream_id,
        m.kind,
        m.kernel_name_id,
        m.kernel_shape_id,
        m.mark,
        row_number() OVER replay AS work_number,
        coalesce(lag(m.start_ns) OVER replay = m.start_ns, false) AS is_tied
    FROM marked m
    WINDOW replay AS (PARTITION BY m.source_id, m.pid, m.device_id, m.correlation_id ORDER BY m.start_ns, m.mark)
), replay AS (
    SELECT
        p.source_id,
        p.pid,
        p.device_id,
        p.correlation_id,
        min(p.stream_id) = max(p.stream_id) AS is_single,
        NOT bool_or(p.is_tied) AS is_ordered,
        count(*) AS work_count,
        sum(hash(p.work_number, p.mark)) AS ordered,
        sum(hash(p.mark)) AS unordered
    FROM placed p
    GROUP BY p.source_id, p.pid, p.device_id, p.correlation_id
)
SELECT
    p.source_id,
    p.pid,
    p.device_id,
    p.correlation_id,
    p.launch_start_ns,
    p.start_ns,
    p.duration_ns,
    p.work_number,
    p.kind,
    p.kernel_name_id,
    p.kernel_shape_id,
    (
        hash(
            p.source_id,
            p.pid,
            r.is_single,
            r.is_ordered,
            r.work_count,
            CASE WHEN r.is_single THEN r.ordered ELSE r.unordered END
        ) >> 1
    )::BIGINT AS replay_id,
    r.is_single,
    r.is_ordered
FROM placed p
JOIN replay r
    ON r.source_id = p.source_id AND r.pid = p.pid AND r.device_id = p.device_id AND r.correlation_id = p.correlation_id
