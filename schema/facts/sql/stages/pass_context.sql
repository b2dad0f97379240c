-- pass_context: The stage pass of each launch, by its set of ranges. A launch in several passes at once, as with two threads, belongs to
--     the one on its range path, else to the one that began first.
-- grain: one set of ranges within a stage pass
-- key: range_context_id
-- needs: stage_pass
-- columns:
--   range_context_id BIGINT: set of ranges, as in kernel, memop, api_call, ...
--   range_id BIGINT: the pass
--   stage VARCHAR: stage of the pass
--   is_warmup BOOLEAN: whether the pass is warm-up

SELECT q.range_context_id, p.range_id, p.stage, p.is_warmup
FROM (
    SELECT
        c.range_context_id,
        arg_min(p.range_id, (coalesce(s.stage <> p.stage, true), p.start_ns, p.range_id)) AS range_id
    FROM range_context c
    JOIN stage_pass p ON p.run_id = c.run_id AND p.range_id = c.range_id
    LEFT JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id
    WHERE c.run_id = $run
    GROUP BY c.range_context_id
) q
JOIN stage_pass p ON p.run_id = $run AND p.range_id = q.range_id
