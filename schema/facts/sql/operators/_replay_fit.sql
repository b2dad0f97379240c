-- _replay_fit: Stream captures that may have recorded a graph: as many launches as a replay of it has work, of the same kinds and, wherever
--     they are known, kernels.
-- grain: one kind of replay and stream capture with as many launches
-- key: replay_id, source_id, capture_number
-- needs: captured_launch
-- columns:
--   replay_id BIGINT: the replays, as in _replay_work
--   source_id INTEGER: source of the capture
--   capture_number INTEGER: the stream capture
--   is_forked BOOLEAN: whether the graph may have branches
--   is_same BOOLEAN: whether the kinds are the same, and the kernels wherever they are known
--   is_named BOOLEAN: whether the kernels of at least half of the launches are known, or of all where there may be branches

WITH kinds AS ( -- one of each kind of replays stands for all
    SELECT
        w.replay_id,
        min([w.device_id, w.correlation_id]) FILTER (w.work_number = 1) AS first,
        min(w.launch_start_ns) AS first_ns,
        max(w.work_number) AS work_count
    FROM _replay_work w
    WHERE w.is_ordered
    GROUP BY w.replay_id
), node AS MATERIALIZED (
    SELECT
        w.replay_id,
        w.source_id,
        k.first_ns,
        k.work_count,
        w.work_number,
        w.kind,
        w.kernel_name_id,
        w.kernel_shape_id,
        w.is_single
    FROM _replay_work w
    JOIN kinds k ON k.replay_id = w.replay_id AND k.first = [w.device_id, w.correlation_id]
), known AS (
    SELECT
        k.label_id,
        any_value(k.kernel_name_id) AS kernel_name_id,
        any_value(k.kernel_shape_id) AS kernel_shape_id,
        count(*) AS kernel_count
    FROM _captured_kernel k
    GROUP BY k.label_id
), captured AS MATERIALIZED ( -- captures that look the same are compared once
    SELECT
        c.source_id,
        c.capture_number,
        c.launch_number,
        c.launch_count,
        c.is_forked,
        c.ended_ns,
        c.kind,
        CASE WHEN k.label_id IS NULL THEN 0 ELSE c.label_id END AS label_id,
        k.kernel_name_id,
        k.kernel_shape_id,
        k.kernel_count
    FROM _captured_node c LEFT JOIN known k ON k.label_id = c.label_id
), alike AS (
    SELECT
        c.source_id,
        c.capture_number,
        min(c.launch_count) AS launch_count,
        bool_or(c.is_forked) AS is_forked,
        min(c.ended_ns) AS ended_ns,
        hash(sum(hash(c.launch_number, c.kind, c.label_id)), count(*), bool_or(c.is_forked)) AS look
    FROM captured c
    GROUP BY c.source_id, c.capture_number
    HAVING count(*) = min(c.launch_count)
), model AS (
    SELECT
        c.launch_number,
        c.launch_count,
        c.kind,
        c.label_id,
        c.kernel_name_id,
        c.kernel_shape_id,
        c.kernel_count,
        a.look,
        a.is_forked
    FROM captured c
    JOIN (
        SELECT
            x.look,
            x.is_forked,
            min([x.source_id, x.capture_number]) AS first
        FROM alike x
        GROUP BY x.look, x.is_forked
    ) a ON a.first = [c.source_id, c.capture_number]
), chain AS ( -- without branches, work runs in the order of the launches
    SELECT
        n.replay_id,
        m.look,
        bool_and(n.is_single AND n.kind = m.kind AND (m.label_id = 0 OR k.label_id IS NOT NULL)) AS is_same,
        count(k.label_id) > 0 AND 2 * count(k.label_id) >= count(*) FILTER (m.kind = 'kernel') AS is_named
    FROM node n
    JOIN model m ON m.launch_count = n.work_count AND m.launch_number = n.work_number AND NOT m.is_forked
    LEFT JOIN _captured_kernel k
        ON k.label_id = m.label_id
        AND k.kernel_name_id = n.kernel_name_id
        AND (k.kernel_shape_id IS NULL OR k.kernel_shape_id = n.kernel_shape_id)
    GROUP BY n.replay_id, m.look
), branched AS ( -- with branches, only kernels tell what is what
    SELECT
        m.look,
        m.kind,
        m.kernel_name_id,
        m.kernel_shape_id,
        count(*) AS launches
    FROM model m
    WHERE m.is_forked
    GROUP BY ALL
), sized AS (
    SELECT
        m.look,
        max(m.launch_count) AS launch_count,
        bool_and(m.kind <> 'kernel' OR m.kernel_count IS NOT DISTINCT FROM 1) AS is_named
    FROM model m
    WHERE m.is_forked
    GROUP BY m.look
), counted AS ( -- far fewer rows than there are nodes
    SELECT
        n.replay_id,
        n.work_count,
        n.kind,
        n.kernel_name_id,
        n.kernel_shape_id,
        count(*) AS works
    FROM node n
    GROUP BY n.replay_id, n.work_count, n.kind, n.kernel_name_id, n.kernel_shape_id
), fork AS (
    SELECT
        n.replay_id,
        s.look,
        s.launch_count,
        s.is_named,
        b.launches,
        sum(n.works)::BIGINT AS works
    FROM sized s
    JOIN counted n ON n.work_count = s.launch_count
    LEFT JOIN branched b
        ON b.look = s.look
        AND b.kind = n.kind
        AND b.kernel_name_id IS NOT DISTINCT FROM n.kernel_name_id
        AND (b.kernel_shape_id IS NULL OR b.kernel_shape_id = n.kernel_shape_id)
    GROUP BY n.replay_id, s.look, s.launch_count, s.is_named, b.kind, b.kernel_name_id, b.kernel_shape_id, b.launches
), fit AS (
    SELECT c.replay_id, c.look, c.is_same, c.is_named
    FROM chain c
    UNION ALL
    SELECT
        f.replay_id,
        f.look,
        bool_and(f.launches IS NOT DISTINCT FROM f.works OR NOT f.is_named),
        bool_and(f.is_named)
    FROM fork f
    GROUP BY f.replay_id, f.look
), seen AS (
    SELECT
        n.replay_id,
        min(n.source_id) AS source_id,
        min(n.first_ns) AS first_ns
    FROM node n
    GROUP BY n.replay_id
)
SELECT f.replay_id, a.source_id, a.capture_number, a.is_forked, f.is_same, f.is_named
FROM fit f JOIN alike a ON a.look = f.look JOIN seen s ON s.replay_id = f.replay_id
WHERE a.source_id <> s.source_id OR a.ended_ns <= s.first_ns
