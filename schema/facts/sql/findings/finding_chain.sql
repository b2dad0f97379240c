-- finding_chain: Short kernels that run one after the other and could be one.
-- into: finding
-- needs: _finding_chain

WITH chain AS (
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        arg_max(c.family, (c.saving_ns, c.family)) AS family,
        sum(c.kernel_count)::BIGINT AS kernel_count,
        sum(c.chain_count)::BIGINT AS chain_count,
        sum(c.sum_ns)::BIGINT AS kernels_ns,
        sum(c.saving_ns)::BIGINT AS chained_ns
    FROM _finding_chain c
    GROUP BY c.kind, c.stage, c.device_id
), own AS (
    SELECT
        w.kind,
        w.stage,
        w.device_id,
        sum(w.own_ns) / nullif(sum(w.sum_ns), 0) AS ratio
    FROM _finding_work w
    GROUP BY w.kind, w.stage, w.device_id
)
SELECT
    s.kind,
    s.is_counted,
    'elementwise-chains' AS finding_id,
    s.stage,
    s.device_id,
    c.family AS subject,
    (c.chained_ns * w.ratio)::BIGINT AS saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'kernel_count': c.kernel_count,
        'below_ns': (
            SELECT r.value::BIGINT
            FROM finding_rule r
            WHERE r.finding_id = 'elementwise-chains'
        ),
        'chain_count': c.chain_count,
        'kernels_ns': c.kernels_ns,
        'chained_ns': c.chained_ns
    })::VARCHAR AS evidence
FROM finding_span s
JOIN chain c ON s.kind = c.kind AND s.stage IS NOT DISTINCT FROM c.stage AND s.device_id = c.device_id
JOIN own w ON s.kind = w.kind AND s.stage IS NOT DISTINCT FROM w.stage AND s.device_id = w.device_id
WHERE s.run_id = $run AND s.span_ns > 0 AND saving_ns > 0
