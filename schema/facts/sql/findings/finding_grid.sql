-- finding_grid: Kernels whose grids leave SMs without a block, all the time or in their last wave.
-- into: finding
-- needs: _finding_work _finding_gpu

WITH least_ns AS (
    SELECT r.value AS ns
    FROM finding_rule r
    WHERE r.finding_id = 'small-grids'
), long AS (
    SELECT
        w.kind,
        w.stage,
        w.device_id,
        w.kernel_name_id,
        w.launch_count,
        w.sum_ns,
        w.own_ns,
        w.block_count,
        d.sm_count,
        CASE
            WHEN d.is_one
                THEN d.sm_count
                    * _resident_block(
                        d.compute_capability, d.max_warp_per_sm_count, d.shared_per_sm_bytes, w.thread_count,
                        w.register_count, w.shared_bytes
                    )
        END AS slot_count
    FROM _finding_work w JOIN _finding_gpu d ON d.kind = w.kind AND d.device_id = w.device_id
    WHERE w.role IS DISTINCT FROM 'collective' AND w.sum_ns >= w.launch_count * (SELECT l.ns FROM least_ns l)
), small AS (
    SELECT
        l.kind,
        l.stage,
        l.device_id,
        l.kernel_name_id,
        any_value(l.sm_count) AS sm_count,
        sum(l.launch_count)::BIGINT AS call_count,
        sum(l.sum_ns)::BIGINT AS calls_ns,
        min(l.block_count) AS least_count,
        max(l.block_count) AS most_count,
        (sum(l.own_ns * (l.sm_count - l.block_count) / l.sm_count))::BIGINT AS saving_ns
    FROM long l
    WHERE l.block_count < l.sm_count
    GROUP BY l.kind, l.stage, l.device_id, l.kernel_name_id
), tail AS (
    SELECT
        l.kind,
        l.stage,
        l.device_id,
        l.kernel_name_id,
        sum(l.launch_count)::BIGINT AS call_count,
        sum(l.sum_ns)::BIGINT AS calls_ns,
        arg_max(
            {'block_count': l.block_count, 'slot_count': l.slot_count},
            (l.sum_ns, l.block_count, l.slot_count)
        ) AS top,
        (sum(
            l.own_ns * (1 - l.block_count / (((l.block_count + l.slot_count - 1) // l.slot_count) * l.slot_count))
        ))::BIGINT AS saving_ns
    FROM long l
    WHERE l.block_count > l.slot_count
        AND l.block_count <= l.slot_count * (SELECT r.value FROM finding_rule r WHERE r.finding_id = 'wave-tail')
    GROUP BY l.kind, l.stage, l.device_id, l.kernel_name_id
)
SELECT
    s.kind,
    s.is_counted,
    'small-grids' AS finding_id,
    s.stage,
    s.device_id,
    n.name AS subject,
    least(q.saving_ns, c.saving_ns)::BIGINT AS saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'call_count': q.call_count,
        'calls_ns': q.calls_ns,
        'least_count': q.least_count,
        'most_count': q.most_count,
        'sm_count': q.sm_count,
        'hidden_ns': q.saving_ns - least(q.saving_ns, c.saving_ns)::BIGINT
    })::VARCHAR AS evidence
FROM finding_span s
JOIN small q ON s.kind = q.kind AND s.stage IS NOT DISTINCT FROM q.stage AND s.device_id = q.device_id
JOIN kernel_name n ON n.run_id = s.run_id AND n.kernel_name_id = q.kernel_name_id
LEFT JOIN _finding_path c
    ON c.kind = q.kind
    AND c.stage IS NOT DISTINCT FROM q.stage
    AND c.device_id = q.device_id
    AND c.kernel_name_id = q.kernel_name_id
WHERE s.run_id = $run AND s.span_ns > 0 AND least(q.saving_ns, c.saving_ns) > 0
UNION ALL
SELECT
    s.kind,
    s.is_counted,
    'wave-tail' AS finding_id,
    s.stage,
    s.device_id,
    n.name AS subject,
    least(q.saving_ns, c.saving_ns)::BIGINT AS saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'call_count': q.call_count,
        'calls_ns': q.calls_ns,
        'block_count': q.top.block_count,
        'slot_count': q.top.slot_count,
        'hidden_ns': q.saving_ns - least(q.saving_ns, c.saving_ns)::BIGINT
    })::VARCHAR AS evidence
FROM finding_span s
JOIN tail q ON s.kind = q.kind AND s.stage IS NOT DISTINCT FROM q.stage AND s.device_id = q.device_id
JOIN kernel_name n ON n.run_id = s.run_id AND n.kernel_name_id = q.kernel_name_id
LEFT JOIN _finding_path c
    ON c.kind = q.kind
    AND c.stage IS NOT DISTINCT FROM q.stage
    AND c.device_id = q.device_id
    AND c.kernel_name_id = q.kernel_name_id
WHERE s.run_id = $run AND s.span_ns > 0 AND least(q.saving_ns, c.saving_ns) > 0
