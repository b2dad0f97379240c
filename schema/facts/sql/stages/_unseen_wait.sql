-- _unseen_wait: Waits at the beginning and the end of a process's capture for device work that the capture does not have.
-- grain: one wait
-- key: source_id, pid, device_id, start_ns
-- needs: nvtx_range|sync|api_call|unseen_work
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_id INTEGER: GPU; NULL for a call that waits for all of a process's
--   place VARCHAR: begin: work that was launched waited, and spans begin behind it; before: a call returned before the first work; end: one
--     began after the last
--   stage VARCHAR: stage whose pass it is in; NULL in none
--   range_id BIGINT: that pass
--   name VARCHAR: call that waited; NULL when none was recorded
--   start_ns BIGINT: start
--   end_ns BIGINT: end
--   time_ns BIGINT: length

-- A call that finds nothing to wait for returns within some 50 us. A first call may make the process's context and take long: before the
-- first work only what CUDA recorded as a wait counts.
WITH edge AS (
    SELECT
        w.source_id,
        w.pid,
        min(w.first_ns) AS first_ns,
        max(w.last_ns) AS last_ns
    FROM (
        SELECT
            k.source_id,
            k.pid,
            min(k.start_ns) AS first_ns,
            max(k.start_ns + k.duration_ns) AS last_ns
        FROM kernel k
        WHERE k.run_id = $run AND k.pid IS NOT NULL
        GROUP BY k.source_id, k.pid
        UNION ALL
        SELECT
            m.source_id,
            m.pid,
            min(m.start_ns),
            max(m.start_ns + m.duration_ns)
        FROM memop m
        WHERE m.run_id = $run AND m.pid IS NOT NULL
        GROUP BY m.source_id, m.pid
        UNION ALL
        SELECT
            g.source_id,
            g.pid,
            min(g.start_ns),
            max(g.start_ns + g.duration_ns)
        FROM graph_launch g
        WHERE g.run_id = $run AND g.pid IS NOT NULL
        GROUP BY g.source_id, g.pid
    ) w
    GROUP BY w.source_id, w.pid
), call AS (
    SELECT a.source_id, a.pid, a.tid, a.start_ns, a.duration_ns, a.range_context_id, n.name
    FROM api_call a
    JOIN api_name n
        ON n.run_id = a.run_id
        AND n.api_name_id = a.api_name_id
        AND (contains(n.name, 'Synchronize') OR contains(n.name, 'Memcpy'))
    WHERE a.run_id = $run AND a.duration_ns >= 100000
), wait AS (
    SELECT
        u.source_id,
        u.pid,
        u.device_id,
        'begin' AS place,
        u.range_context_id,
        max_by(
            c.name,
            least(c.start_ns + c.duration_ns, u.start_ns + u.duration_ns) - greatest(c.start_ns, u.start_ns)
        ) AS name,
        u.start_ns,
        u.duration_ns
    FROM unseen_work u
    LEFT JOIN call c
        ON c.source_id = u.source_id
        AND c.pid = u.pid
        AND c.start_ns < u.start_ns + u.duration_ns
        AND c.start_ns + c.duration_ns > u.start_ns
    WHERE u.run_id = $run
    GROUP BY u.source_id, u.pid, u.device_id, u.range_context_id, u.start_ns, u.duration_ns
    UNION ALL
    SELECT
        s.source_id,
        s.pid,
        NULL,
        'before',
        max(s.range_context_id),
        any_value(s.kind),
        s.start_ns,
        max(s.duration_ns)
    FROM sync s
    JOIN edge e ON e.source_id = s.source_id AND e.pid = s.pid AND s.start_ns + s.duration_ns <= e.first_ns
    WHERE s.run_id = $run AND s.duration_ns >= 1000000
    GROUP BY s.source_id, s.pid, s.start_ns
    UNION ALL
    SELECT
        c.source_id,
        c.pid,
        NULL,
        'end',
        max(c.range_context_id),
        any_value(c.name),
        c.start_ns,
        max(c.duration_ns)
    FROM call c
    JOIN edge e ON e.source_id = c.source_id AND e.pid = c.pid AND c.start_ns >= e.last_ns
    WHERE contains(c.name, 'Synchronize') AND c.duration_ns >= 1000000
    GROUP BY c.source_id, c.pid, c.start_ns
)
SELECT
    w.source_id,
    w.pid,
    w.device_id,
    w.place,
    p.stage,
    p.range_id,
    w.name,
    w.start_ns,
    w.start_ns + w.duration_ns AS end_ns,
    w.duration_ns AS time_ns
FROM wait w LEFT JOIN pass_context p ON p.run_id = $run AND p.range_context_id = w.range_context_id
