-- captured_call: Calls of operators that only a stream capture recorded: what they launched became nodes of a graph, which its replays run.
-- grain: one call
-- key: op_id
-- needs: op
-- columns:
--   op_id BIGINT: the call

WITH RECURSIVE begun AS (
    SELECT
        c.source_id,
        c.pid,
        c.tid,
        c.start_ns + c.duration_ns AS from_ns,
        contains(a.name, 'BeginCapture') AS begins
    FROM api_call c JOIN api_name a ON a.run_id = $run AND a.api_name_id = c.api_name_id
    WHERE c.run_id = $run AND regexp_matches(a.name, 'Stream(Begin|End)Capture')
), span AS ( -- of captures whose nodes are not recorded
    SELECT
        b.source_id,
        b.pid,
        b.tid,
        b.from_ns,
        b.begins,
        lead(b.from_ns) OVER (PARTITION BY b.source_id, b.pid, b.tid ORDER BY b.from_ns, b.begins) AS until_ns
    FROM begun b
), up AS (
    SELECT c.op_id
    FROM captured_launch c
    WHERE c.run_id = $run AND c.op_id > 0
    UNION
    SELECT n.op_id
    FROM _node_op n
    WHERE n.op_id > 0
    UNION
    SELECT o.op_id
    FROM op o
    ASOF JOIN span s ON s.source_id = o.source_id AND s.pid = o.pid AND s.tid = o.tid AND s.from_ns <= o.start_ns
    WHERE o.run_id = $run AND s.begins AND o.start_ns + o.duration_ns <= s.until_ns
    UNION
    SELECT o.parent_op_id
    FROM up u JOIN op o ON o.run_id = $run AND o.op_id = u.op_id
    WHERE o.parent_op_id IS NOT NULL
)
SELECT u.op_id
FROM up u JOIN op o ON o.run_id = $run AND o.op_id = u.op_id
WHERE o.total_device_ns = 0
