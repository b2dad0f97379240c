-- finding_pace: A GPU that takes longer than the others for the same kernels.
-- into: finding
-- needs: _finding_work

WITH shape AS ( -- executed five times or more on each of the GPUs
    SELECT
        w.kind,
        w.stage,
        w.device_id,
        md5(concat_ws(',', w.kernel_name_id, w.grid, w.block, w.register_count, w.shared_bytes, w.is_graph)) AS shape,
        w.launch_count,
        w.sum_ns,
        w.own_ns,
        w.sum_ns / w.launch_count AS mean_ns
    FROM _finding_work w
    WHERE w.role IS DISTINCT FROM 'collective' AND w.grid IS NOT NULL AND w.launch_count >= 5
), gpu AS (
    SELECT
        w.kind,
        w.stage,
        count(DISTINCT w.device_id) AS gpu_count
    FROM _finding_work w
    GROUP BY w.kind, w.stage
), usual AS (
    SELECT
        a.kind,
        a.stage,
        a.device_id,
        a.launch_count,
        a.sum_ns,
        a.own_ns,
        a.mean_ns,
        median(b.mean_ns) AS usual_ns,
        g.gpu_count
    FROM shape a
    JOIN shape b
        ON b.kind = a.kind AND b.stage IS NOT DISTINCT FROM a.stage AND b.shape = a.shape AND b.device_id <> a.device_id
    JOIN gpu g ON g.kind = a.kind AND g.stage IS NOT DISTINCT FROM a.stage
    GROUP BY a.kind, a.stage, a.device_id, a.shape, a.launch_count, a.sum_ns, a.own_ns, a.mean_ns, g.gpu_count
    HAVING count(*) = g.gpu_count - 1
), pace AS (
    SELECT
        u.kind,
        u.stage,
        u.device_id,
        u.gpu_count,
        sum(u.launch_count)::BIGINT AS call_count,
        sum(u.sum_ns)::BIGINT AS calls_ns,
        sum(u.launch_count * u.usual_ns) AS usual_ns,
        coalesce(sum(u.sum_ns) FILTER (u.mean_ns > 1.01 * u.usual_ns), 0)::BIGINT AS slower_ns,
        sum(u.own_ns * (1 - u.usual_ns / u.mean_ns))::BIGINT AS saving_ns
    FROM usual u
    WHERE u.mean_ns > 0
    GROUP BY u.kind, u.stage, u.device_id, u.gpu_count
), clock AS (
    SELECT
        c.kind,
        c.device_id,
        c.clock_hz,
        (
            SELECT median(o.clock_hz)
            FROM _sampled_clock o
            WHERE o.kind = c.kind AND o.device_id <> c.device_id
        ) AS others_clock_hz
    FROM _sampled_clock c
)
SELECT
    s.kind,
    s.is_counted,
    'slow-gpu' AS finding_id,
    s.stage,
    s.device_id,
    NULL AS subject,
    p.saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'gpu_count': p.gpu_count,
        'call_count': p.call_count,
        'calls_ns': p.calls_ns,
        'usual_ns': p.usual_ns,
        'slower_ns': p.slower_ns,
        'clock_hz': c.clock_hz,
        'others_clock_hz': c.others_clock_hz
    })::VARCHAR AS evidence
FROM finding_span s
JOIN pace p ON p.kind = s.kind AND p.stage IS NOT DISTINCT FROM s.stage AND p.device_id = s.device_id
LEFT JOIN clock c ON c.kind = s.kind AND c.device_id = s.device_id
WHERE s.run_id = $run
    AND s.span_ns > 0
    AND p.saving_ns > 0
    AND p.slower_ns >= 0.8 * p.calls_ns
    AND p.calls_ns > p.usual_ns * (1 + (SELECT r.value FROM finding_rule r WHERE r.finding_id = 'slow-gpu'))
