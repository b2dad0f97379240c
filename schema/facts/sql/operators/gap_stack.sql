-- gap_stack: Idle gaps by the Python functions that the GPU waited in.
-- grain: one idle gap of the table gap whose Python functions are known, or of a source with samples of Python
-- key: source_id, device_id, start_ns
-- needs: python_stack
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   start_ns BIGINT: start of the gap
--   stack_id BIGINT: stack of the function; 0 outside every one, NULL when not known
--   found_by VARCHAR: open: the innermost function that was open for at least half of the gap on the thread that launches the work after
--     it; sample: where there is none, the innermost function that this thread was in at more than half of its samples within the gap, at
--     the line of most of these; launch: where there is neither, the functions that this launch was made in; NULL when not known
--   sample_count BIGINT: samples of that thread within the gap; NULL when Python was not sampled
--   match_count BIGINT: those of them in the function; NULL unless found_by is sample

WITH RECURSIVE g AS ( -- gaps of a GPU do not overlap, so those that a call overlaps follow each other
    SELECT
        g.source_id,
        g.device_id,
        g.pid,
        g.tid,
        g.start_ns,
        g.start_ns + g.duration_ns AS end_ns,
        g.duration_ns,
        row_number() OVER (PARTITION BY g.source_id, g.device_id, g.pid, g.tid ORDER BY g.start_ns) AS place
    FROM gap g
    WHERE g.run_id = $run AND g.tid IS NOT NULL
), thread AS (
    SELECT
        g.source_id,
        g.device_id,
        g.pid,
        g.tid,
        min(g.duration_ns) AS least_ns
    FROM g
    GROUP BY ALL
), call AS (
    SELECT
        t.device_id,
        c.source_id,
        c.pid,
        c.tid,
        c.stack_id,
        c.start_ns,
        c.start_ns + c.duration_ns AS end_ns
    FROM python_call c
    JOIN thread t ON t.source_id = c.source_id AND t.pid = c.pid AND t.tid = c.tid
    WHERE c.run_id = $run AND 2 * c.duration_ns >= t.least_ns
), begun AS (
    SELECT
        c.device_id,
        c.source_id,
        c.pid,
        c.tid,
        c.stack_id,
        c.start_ns,
        c.end_ns,
        g.place AS first_place
    FROM call c
    ASOF JOIN g
        ON g.source_id = c.source_id
        AND g.device_id = c.device_id
        AND g.pid = c.pid
        AND g.tid = c.tid
        AND c.start_ns < g.end_ns
), meets AS (
    SELECT
        b.device_id,
        b.source_id,
        b.pid,
        b.tid,
        b.stack_id,
        b.start_ns,
        b.end_ns,
        unnest(range(b.first_place, g.place + 1)) AS place
    FROM begun b
    ASOF JOIN g
        ON g.source_id = b.source_id
        AND g.device_id = b.device_id
        AND g.pid = b.pid
        AND g.tid = b.tid
        AND b.end_ns > g.start_ns
), open AS (
    SELECT
        g.source_id,
        g.device_id,
        g.start_ns,
        arg_max(m.stack_id, (s.depth, m.start_ns, m.stack_id)) AS stack_id
    FROM meets m
    JOIN g
        ON g.source_id = m.source_id
        AND g.device_id = m.device_id
        AND g.pid = m.pid
        AND g.tid = m.tid
        AND g.place = m.place
    JOIN python_stack s ON s.run_id = $run AND s.stack_id = m.stack_id
    WHERE 2 * (least(m.end_ns, g.end_ns) - greatest(m.start_ns, g.start_ns)) >= g.duration_ns
    GROUP BY g.source_id, g.device_id, g.start_ns
), hit AS ( -- samples within gaps
    SELECT
        g.source_id,
        g.device_id,
        g.start_ns,
        p.stack_id,
        count(*) AS n
    FROM (
        SELECT t.device_id, x.source_id, x.pid, x.tid, x.time_ns, x.stack_id
        FROM python_sample x
        JOIN thread t ON t.source_id = x.source_id AND t.pid = x.pid AND t.tid = x.tid
        WHERE x.run_id = $run
    ) p
    ASOF JOIN g
        ON g.source_id = p.source_id
        AND g.device_id = p.device_id
        AND g.pid = p.pid
        AND g.tid = p.tid
        AND p.time_ns >= g.start_ns
    WHERE p.time_ns < g.end_ns
    GROUP BY ALL
), sampled AS (
    SELECT
        h.source_id,
        h.device_id,
        h.start_ns,
        sum(h.n)::BIGINT AS n
    FROM hit h
    GROUP BY h.source_id, h.device_id, h.start_ns
), around AS ( -- the functions of each sample, outwards
    SELECT DISTINCT
        h.stack_id AS leaf_stack_id,
        h.stack_id
    FROM hit h
    WHERE h.stack_id > 0
    UNION ALL
    SELECT a.leaf_stack_id, f.parent_stack_id
    FROM around a JOIN python_stack f ON f.run_id = $run AND f.stack_id = a.stack_id
    WHERE f.parent_stack_id IS NOT NULL
), frame AS (
    SELECT
        f.stack_id,
        f.parent_stack_id,
        f.depth,
        f.function,
        regexp_replace(f.function, '\([0-9]+\): ', ': ') AS name
    FROM python_stack f
    WHERE f.run_id = $run AND f.stack_id IN (SELECT a.stack_id FROM around a)
), line AS (
    SELECT
        h.source_id,
        h.device_id,
        h.start_ns,
        f.parent_stack_id,
        f.name,
        f.depth,
        f.function,
        f.stack_id,
        sum(h.n)::BIGINT AS n
    FROM hit h JOIN around a ON a.leaf_stack_id = h.stack_id JOIN frame f ON f.stack_id = a.stack_id
    GROUP BY ALL
), spent AS ( -- a function, whatever its line
    SELECT
        l.source_id,
        l.device_id,
        l.start_ns,
        l.depth,
        l.name,
        arg_max(l.stack_id, (l.n, l.function)) AS stack_id,
        sum(l.n)::BIGINT AS n
    FROM line l
    GROUP BY l.source_id, l.device_id, l.start_ns, l.parent_stack_id, l.depth, l.name
), sample AS ( -- the innermost with most samples: there is one, since no two at a depth have
    SELECT
        s.source_id,
        s.device_id,
        s.start_ns,
        arg_max({'stack_id': s.stack_id, 'n': s.n}, s.depth) AS top
    FROM spent s
    JOIN sampled d ON d.source_id = s.source_id AND d.device_id = s.device_id AND d.start_ns = s.start_ns
    WHERE 2 * s.n > d.n
    GROUP BY s.source_id, s.device_id, s.start_ns
), work AS (
    SELECT k.source_id, k.device_id, k.pid, k.tid, k.start_ns, k.stack_id
    FROM kernel k
    WHERE k.run_id = $run AND k.stack_id IS NOT NULL
    UNION ALL
    SELECT m.source_id, m.device_id, m.pid, m.tid, m.start_ns, m.stack_id
    FROM memop m
    WHERE m.run_id = $run AND m.stack_id IS NOT NULL
    UNION ALL
    SELECT l.source_id, l.device_id, l.pid, l.tid, l.start_ns, l.stack_id
    FROM graph_launch l
    WHERE l.run_id = $run AND l.stack_id IS NOT NULL AND l.mode = 'graph'
), launch AS ( -- one, of several that start together
    SELECT
        g.source_id,
        g.device_id,
        g.start_ns,
        coalesce(min(w.stack_id) FILTER (w.stack_id > 0), 0) AS stack_id
    FROM work w
    JOIN g
        ON g.source_id = w.source_id
        AND g.device_id = w.device_id
        AND g.pid = w.pid
        AND g.tid = w.tid
        AND g.end_ns = w.start_ns
    GROUP BY g.source_id, g.device_id, g.start_ns
)
SELECT
    g.source_id,
    g.device_id,
    g.start_ns,
    coalesce(o.stack_id, s.top.stack_id, l.stack_id) AS stack_id,
    CASE
        WHEN o.stack_id IS NOT NULL THEN 'open'
        WHEN s.top IS NOT NULL THEN 'sample'
        WHEN l.stack_id IS NOT NULL THEN 'launch'
    END AS found_by,
    CASE WHEN y.source_id IS NOT NULL THEN coalesce(d.n, 0) END AS sample_count,
    CASE WHEN o.stack_id IS NULL THEN s.top.n END AS match_count
FROM g
LEFT JOIN open o ON o.source_id = g.source_id AND o.device_id = g.device_id AND o.start_ns = g.start_ns
LEFT JOIN (SELECT DISTINCT x.source_id FROM python_sample x WHERE x.run_id = $run) y ON y.source_id = g.source_id
LEFT JOIN sampled d ON d.source_id = g.source_id AND d.device_id = g.device_id AND d.start_ns = g.start_ns
LEFT JOIN sample s ON s.source_id = g.source_id AND s.device_id = g.device_id AND s.start_ns = g.start_ns
LEFT JOIN launch l ON l.source_id = g.source_id AND l.device_id = g.device_id AND l.start_ns = g.start_ns
WHERE coalesce(o.stack_id, s.top.stack_id, l.stack_id, y.source_id) IS NOT NULL
