-- gap_stack: Idle gaps by the Python functions that the GPU waited in.
-- grain: one idle gap of the table gap whose Python functions are known
-- key: source_id, device_id, start_ns
-- needs: python_stack
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   start_ns BIGINT: start of the gap
--   stack_id BIGINT: stack of the function
--   found_by VARCHAR: open: the innermost function that was open for at least half of the gap on the thread that launches the work after it; launch: where there is none, the
--     functions that this launch was made in

WITH g AS ( -- gaps of a GPU do not overlap, so those that a call overlaps follow each other
    SELECT g.source_id, g.device_id, g.pid, g.tid, g.start_ns, g.start_ns + g.duration_ns AS end_ns, g.duration_ns, row_number() OVER (PARTITION BY g.source_id, g.device_id, g.pid, g.tid ORDER BY g.start_ns) AS place
    FROM gap g WHERE g.run_id = $run AND g.tid IS NOT NULL
), thread AS (
    SELECT g.source_id, g.device_id, g.pid, g.tid, min(g.duration_ns) AS least_ns FROM g GROUP BY ALL
), call AS (
    SELECT t.device_id, c.source_id, c.pid, c.tid, c.stack_id, c.start_ns, c.start_ns + c.duration_ns AS end_ns
    FROM python_call c JOIN thread t ON t.source_id = c.source_id AND t.pid = c.pid AND t.tid = c.tid
    WHERE c.run_id = $run AND 2 * c.duration_ns >= t.least_ns
), begun AS (
    SELECT c.device_id, c.source_id, c.pid, c.tid, c.stack_id, c.start_ns, c.end_ns, g.place AS first_place
    FROM call c ASOF JOIN g ON g.source_id = c.source_id AND g.device_id = c.device_id AND g.pid = c.pid AND g.tid = c.tid AND c.start_ns < g.end_ns
), meets AS (
    SELECT b.device_id, b.source_id, b.pid, b.tid, b.stack_id, b.start_ns, b.end_ns, unnest(range(b.first_place, g.place + 1)) AS place
    FROM begun b ASOF JOIN g ON g.source_id = b.source_id AND g.device_id = b.device_id AND g.pid = b.pid AND g.tid = b.tid AND b.end_ns > g.start_ns
), open AS (
    SELECT g.source_id, g.device_id, g.start_ns, arg_max(m.stack_id, (s.depth, m.start_ns, m.stack_id)) AS stack_id
    FROM meets m
    JOIN g ON g.source_id = m.source_id AND g.device_id = m.device_id AND g.pid = m.pid AND g.tid = m.tid AND g.place = m.place
    JOIN python_stack s ON s.run_id = $run AND s.stack_id = m.stack_id
    WHERE 2 * (least(m.end_ns, g.end_ns) - greatest(m.start_ns, g.start_ns)) >= g.duration_ns
    GROUP BY g.source_id, g.device_id, g.start_ns
), work AS (
    SELECT k.source_id, k.device_id, k.pid, k.tid, k.start_ns, k.stack_id FROM kernel k WHERE k.run_id = $run AND k.stack_id > 0
    UNION ALL
    SELECT m.source_id, m.device_id, m.pid, m.tid, m.start_ns, m.stack_id FROM memop m WHERE m.run_id = $run AND m.stack_id > 0
    UNION ALL
    SELECT l.source_id, l.device_id, l.pid, l.tid, l.start_ns, l.stack_id FROM graph_launch l WHERE l.run_id = $run AND l.stack_id > 0 AND l.mode = 'graph'
), launch AS ( -- one, of several that start together
    SELECT g.source_id, g.device_id, g.start_ns, min(w.stack_id) AS stack_id
    FROM work w JOIN g ON g.source_id = w.source_id AND g.device_id = w.device_id AND g.pid = w.pid AND g.tid = w.tid AND g.end_ns = w.start_ns
    GROUP BY g.source_id, g.device_id, g.start_ns
)
SELECT g.source_id, g.device_id, g.start_ns, coalesce(o.stack_id, l.stack_id) AS stack_id, CASE WHEN o.stack_id IS NOT NULL THEN 'open' ELSE 'launch' END AS found_by
FROM g
LEFT JOIN open o ON o.source_id = g.source_id AND o.device_id = g.device_id AND o.start_ns = g.start_ns
LEFT JOIN launch l ON l.source_id = g.source_id AND l.device_id = g.device_id AND l.start_ns = g.start_ns
WHERE coalesce(o.stack_id, l.stack_id) IS NOT NULL
