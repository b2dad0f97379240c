-- finding_profile: Kernels that Nsight Compute measured far from what the GPU can do.
-- into: finding
-- needs: _finding_profile

WITH spelling AS (
    SELECT
        f.kind,
        r.finding_id,
        f.stage,
        f.device_id,
        f.kernel_name_id,
        f.timeline_name_id,
        sum(f.launch_count)::BIGINT AS call_count,
        sum(f.sum_ns)::BIGINT AS calls_ns,
        sum(f.own_ns * (1 - f.roof_ratio))::BIGINT AS saving_ns,
        max({
            'sum_ns': f.sum_ns,
            'grid': f.grid,
            'block': f.block,
            'roof_ratio': f.roof_ratio,
            'occupancy_ratio': f.occupancy_ratio,
            'bound': f.bound,
            'limiter': f.limiter
        }) AS top
    FROM _finding_profile f
    JOIN finding_rule r
        ON r.finding_id = 'below-roof' AND f.roof_ratio < r.value
        OR r.finding_id = 'low-occupancy'
        AND f.bound = 'latency'
        AND f.limiter = 'occupancy'
        AND f.occupancy_ratio < r.value
    GROUP BY f.kind, r.finding_id, f.stage, f.device_id, f.kernel_name_id, f.timeline_name_id
), profile AS (
    SELECT
        x.kind,
        x.finding_id,
        x.stage,
        x.device_id,
        x.kernel_name_id,
        sum(x.call_count)::BIGINT AS call_count,
        sum(x.calls_ns)::BIGINT AS calls_ns,
        sum(x.saving_ns)::BIGINT AS all_ns,
        sum(least(x.saving_ns, c.saving_ns))::BIGINT AS saving_ns,
        max(x.top) AS top
    FROM spelling x
    LEFT JOIN _finding_path c
        ON c.kind = x.kind
        AND c.stage IS NOT DISTINCT FROM x.stage
        AND c.device_id = x.device_id
        AND c.kernel_name_id = x.timeline_name_id
    GROUP BY x.kind, x.finding_id, x.stage, x.device_id, x.kernel_name_id
)
SELECT
    s.kind,
    s.is_counted,
    q.finding_id,
    s.stage,
    s.device_id,
    n.name AS subject,
    q.saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'call_count': q.call_count,
        'calls_ns': q.calls_ns,
        'grid': q.top.grid,
        'block': q.top.block,
        'roof_ratio': q.top.roof_ratio,
        'occupancy_ratio': q.top.occupancy_ratio,
        'bound': q.top.bound,
        'limiter': q.top.limiter,
        'hidden_ns': q.all_ns - q.saving_ns
    })::VARCHAR AS evidence
FROM finding_span s
JOIN profile q ON s.kind = q.kind AND s.stage IS NOT DISTINCT FROM q.stage AND s.device_id = q.device_id
JOIN kernel_name n ON n.run_id = s.run_id AND n.kernel_name_id = q.kernel_name_id
WHERE s.run_id = $run AND s.span_ns > 0 AND q.saving_ns > 0
