-- kernel-order v1: The kernels of one measured pass of each stage in the order in which they start on its first GPU. Two runs laid side by
--     side show what runs in which place.
-- grain: one stage
-- key: stage
-- notes: graph launch pass range
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   top BIGINT = 40000: no passes of more kernels; 0 for all
-- columns:
--   stage: the stage, by stage_rule
--   source_id: the source
--   range_id: the pass: that whose kernels take the median time
--   device: GPU: the first that ran kernels of the pass
--   kernel_count: its kernels there
--   kernel_ids: kernel_name_id of each kernel in turn, by start, as a JSON list

WITH pass AS (
    SELECT
        p.stage,
        p.source_id,
        p.range_id,
        d.device_id
    FROM stage_pass p
    JOIN range_device d ON d.run_id = run AND d.range_id = p.range_id
    WHERE p.run_id = run
        AND p.is_counted
        AND NOT p.is_warmup
        AND p.lost_count = 0
        AND d.kernel_count > 0
        AND d.graph_count = 0
        AND (top = 0 OR d.kernel_count <= top)
        AND (stage IS NULL OR p.stage = stage)
    QUALIFY dense_rank() OVER (PARTITION BY p.stage ORDER BY d.device_id) = 1
        AND row_number() OVER (PARTITION BY p.stage, d.device_id ORDER BY d.kernel_sum_ns, p.range_id)
            = (count(*) OVER (PARTITION BY p.stage, d.device_id) + 1) // 2
)
SELECT
    p.stage,
    p.source_id,
    p.range_id,
    p.device_id AS device,
    count(*) AS kernel_count,
    '[' || string_agg(k.kernel_name_id, ',' ORDER BY k.start_ns, k.stream_id, k.kernel_name_id, k.duration_ns) || ']' AS kernel_ids
FROM pass p
JOIN pass_context x ON x.run_id = run AND x.range_id = p.range_id
JOIN kernel k ON k.run_id = run AND k.range_context_id = x.range_context_id AND k.device_id = p.device_id
GROUP BY p.stage, p.source_id, p.range_id, p.device_id
ORDER BY p.stage
