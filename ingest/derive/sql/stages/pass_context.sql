-- pass_context: Which pass of a stage launches belong to, by the ranges they were made in. Those made in several passes at once, as those of two threads may be, belong to the one that their path of ranges names, or else to the one that began first.
-- grain: one set of ranges with a pass of a stage among them
-- key: range_context_id
-- needs: nvtx_range
-- columns:
--   range_context_id BIGINT: the set of ranges, as in kernel, memop, api_call, ...
--   range_id BIGINT: the pass
--   stage VARCHAR: its stage
--   is_warmup BOOLEAN: whether it is warm-up

SELECT q.range_context_id, p.range_id, p.stage, p.is_warmup
FROM (
    SELECT c.range_context_id, arg_min(p.range_id, (coalesce(s.stage <> p.stage, true), p.start_ns, p.range_id)) AS range_id
    FROM range_context c
    JOIN stage_pass p ON p.run_id = c.run_id AND p.range_id = c.range_id
    LEFT JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id
    WHERE c.run_id = $run
    GROUP BY c.range_context_id
) q
JOIN stage_pass p ON p.run_id = $run AND p.range_id = q.range_id
