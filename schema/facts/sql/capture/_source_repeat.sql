-- _source_repeat: Which time that prof capture ran the workload under a tool each of its captures is of.
-- grain: one source that prof capture made
-- key: source_id
-- needs: capture_source
-- columns:
--   source_id INTEGER: the source
--   repeat_id BIGINT: 1, 2, ... among the passes of that tool; ranks of one launch share it

SELECT
    c.captured_source_id AS source_id,
    max(p.repeat_id)::BIGINT AS repeat_id
FROM capture_source c JOIN capture_pass p ON p.run_id = c.run_id AND p.pass_id = c.pass_id
WHERE c.run_id = $run
GROUP BY c.captured_source_id
