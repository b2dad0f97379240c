-- _engine_range: Ranges whose names begin as those that serving engines give to a step.
-- grain: one range
-- key: range_id
-- needs: nvtx_range
-- columns:
--   range_id BIGINT: the range
--   name VARCHAR: name as recorded; its first 4,096 characters, more than engines write

SELECT
    n.range_id,
    left(n.name, 4096) AS name
FROM nvtx_range n
WHERE n.run_id = $run
    AND (
        starts_with(n.name, 'step[')
        OR starts_with(n.name, 'execute_')
        OR starts_with(n.name, '[Executor] _forward_step')
    )
