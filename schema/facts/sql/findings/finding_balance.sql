-- finding_balance: Kernels whose blocks keep some SMs at work for longer than the others, by Nsight Compute.
-- into: finding
-- needs: _finding_profile

WITH active AS (
    SELECT
        m.launch_id,
        max(m.value) FILTER (n.name = 'sm__cycles_active.avg') AS mean_cycles,
        max(m.value) FILTER (n.name = 'sm__cycles_active.max') AS max_cycles,
        max(m.value) FILTER (n.name = 'sm__cycles_elapsed.max') AS elapsed_cycles
    FROM ncu_metric m JOIN ncu_metric_name n ON n.run_id = m.run_id AND n.metric_id = m.metric_id
    WHERE m.run_id = $run AND n.name IN ('sm__cycles_active.avg', 'sm__cycles_active.max', 'sm__cycles_elapsed.max')
    GROUP BY m.launch_id
), shape AS ( -- even_ratio: the mean over the most of blocks that all take as long, where no SM gets a second block before all have one
    SELECT
        l.kernel_name_id,
        l.grid,
        l.block,
        l.block_count,
        d.sm_count,
        l.block_count / (((l.block_count + d.sm_count - 1) // d.sm_count) * d.sm_count) AS even_ratio,
        avg(a.mean_cycles) AS mean_cycles,
        avg(a.max_cycles) AS max_cycles,
        avg(greatest(a.elapsed_cycles, a.max_cycles)) AS elapsed_cycles
    FROM active a
    JOIN (
        SELECT
            l.launch_id,
            l.device_id,
            l.kernel_name_id,
            l.grid,
            l.block,
            list_product(string_split(l.grid, ' x ')::BIGINT[])::BIGINT AS block_count
        FROM ncu_measure l
        WHERE l.run_id = $run
    ) l ON l.launch_id = a.launch_id
    JOIN (
        SELECT
            d.device_id,
            max(d.sm_count) AS sm_count
        FROM device d
        WHERE d.run_id = $run
        GROUP BY d.device_id
        HAVING min(d.sm_count) = max(d.sm_count)
    ) d ON d.device_id = l.device_id
    WHERE a.max_cycles > 0 AND a.mean_cycles IS NOT NULL
    GROUP BY ALL
), uneven AS (
    SELECT
        f.kind,
        f.stage,
        f.device_id,
        f.kernel_name_id,
        f.timeline_name_id,
        f.launch_count,
        f.sum_ns,
        s.block_count,
        s.sm_count,
        s.mean_cycles,
        s.max_cycles,
        f.own_ns
            * (1 - s.mean_cycles / (s.even_ratio * s.max_cycles))
            * s.max_cycles
            / coalesce(s.elapsed_cycles, s.max_cycles) AS saving_ns
    FROM _finding_profile f
    JOIN shape s ON s.kernel_name_id = f.kernel_name_id AND s.grid = f.grid AND s.block = f.block
    WHERE s.mean_cycles
            < (SELECT r.value FROM finding_rule r WHERE r.finding_id = 'uneven-sms') * s.even_ratio * s.max_cycles
        AND f.sum_ns >= f.launch_count * (SELECT r.value FROM finding_rule r WHERE r.finding_id = 'small-grids')
), q AS (
    SELECT
        u.kind,
        u.stage,
        u.device_id,
        u.kernel_name_id,
        u.timeline_name_id,
        sum(u.launch_count)::BIGINT AS call_count,
        sum(u.sum_ns)::BIGINT AS calls_ns,
        sum(u.saving_ns)::BIGINT AS saving_ns,
        arg_max(
            {
                'block_count': u.block_count,
                'sm_count': u.sm_count,
                'mean_cycles': u.mean_cycles,
                'max_cycles': u.max_cycles
            },
            (u.sum_ns, u.block_count, u.max_cycles)
        ) AS top
    FROM uneven u
    GROUP BY u.kind, u.stage, u.device_id, u.kernel_name_id, u.timeline_name_id
)
SELECT
    s.kind,
    s.is_counted,
    'uneven-sms' AS finding_id,
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
        'sm_count': q.top.sm_count,
        'mean_cycles': q.top.mean_cycles,
        'max_cycles': q.top.max_cycles,
        'hidden_ns': q.saving_ns - least(q.saving_ns, c.saving_ns)::BIGINT
    })::VARCHAR AS evidence
FROM finding_span s
JOIN q ON s.kind = q.kind AND s.stage IS NOT DISTINCT FROM q.stage AND s.device_id = q.device_id
JOIN kernel_name n ON n.run_id = s.run_id AND n.kernel_name_id = q.kernel_name_id
LEFT JOIN _finding_path c
    ON c.kind = q.kind
    AND c.stage IS NOT DISTINCT FROM q.stage
    AND c.device_id = q.device_id
    AND c.kernel_name_id = q.timeline_name_id
WHERE s.run_id = $run AND s.span_ns > 0 AND least(q.saving_ns, c.saving_ns) > 0
