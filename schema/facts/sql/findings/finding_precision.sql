-- finding_precision: Matrix products and convolutions in single precision that tensor cores would do faster.
-- into: finding
-- needs: _finding_work _name_precision device

WITH gpu AS ( -- of GPUs that differ by source nothing is known
    SELECT
        t.kind,
        d.device_id,
        CASE WHEN min(d.name) = max(d.name) THEN min(d.name) END AS name
    FROM device d JOIN (SELECT DISTINCT t.kind FROM timeline t WHERE t.run_id = $run) t ON true
    WHERE d.run_id = $run
    GROUP BY t.kind, d.device_id
), product AS ( -- inputs by the name; of single precision tensor cores take TF32
    SELECT
        w.kind,
        w.stage,
        w.device_id,
        w.kernel_name_id,
        CASE WHEN p.precision IN ('bf16', 'fp16') THEN p.precision ELSE 'tf32' END AS tensor_precision,
        sum(w.launch_count)::BIGINT AS call_count,
        sum(w.sum_ns)::BIGINT AS calls_ns,
        sum(w.own_ns) AS own_ns
    FROM _finding_work w JOIN _name_precision p ON p.kernel_name_id = w.kernel_name_id AND p.is_plain
    WHERE w.role IN ('gemm', 'convolution')
    GROUP BY w.kind, w.stage, w.device_id, w.kernel_name_id, tensor_precision
), faster AS (
    SELECT
        p.kind,
        p.stage,
        p.device_id,
        p.kernel_name_id,
        p.tensor_precision,
        p.call_count,
        p.calls_ns,
        f.flop_per_s AS fp32_flop_per_s,
        t.flop_per_s AS tensor_flop_per_s,
        (p.own_ns * (1 - f.flop_per_s / t.flop_per_s))::BIGINT AS saving_ns
    FROM product p
    JOIN gpu g ON g.kind = p.kind AND g.device_id = p.device_id
    JOIN _device_roof f ON f.name = g.name AND f.resource = 'fp32'
    JOIN _device_roof t ON t.name = g.name AND t.resource = 'tensor_' || p.tensor_precision
    WHERE t.flop_per_s > f.flop_per_s
), q AS (
    SELECT
        f.kind,
        f.stage,
        f.device_id,
        f.tensor_precision,
        arg_max(f.kernel_name_id, (f.calls_ns, f.kernel_name_id)) AS kernel_name_id,
        sum(f.call_count)::BIGINT AS call_count,
        sum(f.calls_ns)::BIGINT AS calls_ns,
        any_value(f.fp32_flop_per_s) AS fp32_flop_per_s,
        any_value(f.tensor_flop_per_s) AS tensor_flop_per_s,
        sum(f.saving_ns)::BIGINT AS all_ns,
        sum(least(f.saving_ns, c.saving_ns))::BIGINT AS saving_ns
    FROM faster f
    LEFT JOIN _finding_path c
        ON c.kind = f.kind
        AND c.stage IS NOT DISTINCT FROM f.stage
        AND c.device_id = f.device_id
        AND c.kernel_name_id = f.kernel_name_id
    GROUP BY f.kind, f.stage, f.device_id, f.tensor_precision
)
SELECT
    s.kind,
    s.is_counted,
    'fp32-products' AS finding_id,
    s.stage,
    s.device_id,
    n.name AS subject,
    q.saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'call_count': q.call_count,
        'calls_ns': q.calls_ns,
        'tensor_precision': q.tensor_precision,
        'fp32_flop_per_s': q.fp32_flop_per_s,
        'tensor_flop_per_s': q.tensor_flop_per_s,
        'hidden_ns': q.all_ns - q.saving_ns
    })::VARCHAR AS evidence
FROM finding_span s
JOIN q ON s.kind = q.kind AND s.stage IS NOT DISTINCT FROM q.stage AND s.device_id = q.device_id
JOIN kernel_name n ON n.run_id = s.run_id AND n.kernel_name_id = q.kernel_name_id
WHERE s.run_id = $run AND s.span_ns > 0 AND q.saving_ns > 0
