-- finding_precision: Matrix products and convolutions in single precision that tensor cores would do faster.
-- into: finding
-- needs: _finding_work _name_precision device

WITH gpu AS ( -- of GPUs that differ by source nothing is known
    SELECT t.kind, d.device_id, CASE WHEN min(d.name) = max(d.name) THEN min(d.name) END AS name
    FROM device d JOIN (SELECT DISTINCT t.kind FROM timeline t WHERE t.run_id = $run) t ON true
    WHERE d.run_id = $run GROUP BY t.kind, d.device_id
), peak AS (
    SELECT r.name, max(r.flop_per_s) FILTER (r.resource = 'fp32') AS fp32_flop_per_s, max(r.flop_per_s) FILTER (r.resource = 'tensor_tf32') AS tf32_flop_per_s FROM _device_roof r WHERE r.resource IN ('fp32', 'tensor_tf32') GROUP BY r.name
), q AS (
    SELECT w.kind, w.stage, w.device_id, arg_max(w.kernel_name_id, (w.sum_ns, w.kernel_name_id)) AS kernel_name_id, sum(w.launch_count)::BIGINT AS call_count, sum(w.sum_ns)::BIGINT AS calls_ns, sum(w.own_ns) AS own_ns
    FROM _finding_work w JOIN _name_precision p ON p.kernel_name_id = w.kernel_name_id AND p.precision = 'fp32'
    WHERE w.role IN ('gemm', 'convolution') GROUP BY w.kind, w.stage, w.device_id
)
SELECT s.kind, s.is_counted, 'fp32-products' AS finding_id, s.stage, s.device_id, n.name AS subject, (q.own_ns * (1 - k.fp32_flop_per_s / k.tf32_flop_per_s))::BIGINT AS saving_ns, s.pass_count, s.span_ns,
    to_json({'call_count': q.call_count, 'calls_ns': q.calls_ns, 'fp32_flop_per_s': k.fp32_flop_per_s, 'tf32_flop_per_s': k.tf32_flop_per_s})::VARCHAR AS evidence
FROM finding_span s JOIN q ON s.kind = q.kind AND s.stage IS NOT DISTINCT FROM q.stage AND s.device_id = q.device_id JOIN gpu g ON g.kind = s.kind AND g.device_id = s.device_id JOIN peak k ON k.name = g.name
JOIN kernel_name n ON n.run_id = s.run_id AND n.kernel_name_id = q.kernel_name_id
WHERE s.run_id = $run AND s.span_ns > 0 AND k.tf32_flop_per_s > k.fp32_flop_per_s AND saving_ns > 0
