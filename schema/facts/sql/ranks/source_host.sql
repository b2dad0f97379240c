-- source_host: Which machine each timeline was captured on, and in which recording of prof capture.
-- grain: one timeline source
-- key: source_id
-- columns:
--   source_id INTEGER: the source
--   host VARCHAR: the machine: its node in the job where known, else its name; NULL when unknown
--   node_rank INTEGER: node of the job; NULL when unknown
--   recording VARCHAR: tool and repeat, the same on all nodes of a job; NULL for what prof did not capture

SELECT
    t.source_id,
    coalesce('node ' || p.node_rank, f.name) AS host,
    p.node_rank,
    p.recording
FROM timeline t
LEFT JOIN (
    SELECT
        c.captured_source_id AS source_id,
        min(p.tool || ' ' || p.repeat_id) AS recording,
        min(n.node_rank) AS node_rank
    FROM capture_source c
    JOIN capture_pass p ON p.run_id = c.run_id AND p.pass_id = c.pass_id
    LEFT JOIN capture_node n ON n.run_id = p.run_id AND n.source_id = p.source_id
    WHERE c.run_id = $run
    GROUP BY c.captured_source_id
) p ON p.source_id = t.source_id
LEFT JOIN (
    SELECT
        x.source_id,
        min(x.value) AS name
    FROM source_fact x
    WHERE x.run_id = $run AND x.key = 'host.name'
    GROUP BY x.source_id
) f ON f.source_id = t.source_id
WHERE t.run_id = $run
