-- finding_collective: Collectives not overlapped with other kernels.
-- into: finding
-- needs: _finding_part collective

WITH c AS (
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        sum(c.collective_count)::BIGINT AS collective_count,
        sum(c.collective_ns)::BIGINT AS collectives_ns,
        sum(c.exposed_ns)::BIGINT AS exposed_ns,
        max(c.exposed_ns) AS max_ns,
        _median_pass(c.exposed_ns, c.end_ns - c.start_ns, c.range_id) AS median_ns,
        count(*) AS pass_count
    FROM _finding_part c
    WHERE c.collective_count > 0
    GROUP BY c.kind, c.stage, c.device_id
), shared AS (
    SELECT
        t.kind,
        CASE WHEN t.is_staged THEN p.stage END AS stage,
        x.device_id,
        count(*) AS shared_count,
        sum(x.exposed_ns)::BIGINT AS shared_ns,
        list_sort(list(DISTINCT x.stream_id)) AS streams
    FROM collective x
    JOIN _finding_timeline t ON t.source_id = x.source_id
    JOIN _compute_stream m
        ON m.source_id = x.source_id
        AND m.pid IS NOT DISTINCT FROM x.pid
        AND m.device_id = x.device_id
        AND m.stream_id = x.stream_id
    LEFT JOIN pass_context p ON p.run_id = x.run_id AND p.range_context_id = x.range_context_id AND NOT p.is_warmup
    WHERE x.run_id = $run AND (NOT t.is_staged OR p.range_id IS NOT NULL)
    GROUP BY t.kind, CASE WHEN t.is_staged THEN p.stage END, x.device_id
)
SELECT
    s.kind,
    s.is_counted,
    'exposed-collectives' AS finding_id,
    s.stage,
    s.device_id,
    NULL AS subject,
    c.exposed_ns AS saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'collective_count': c.collective_count,
        'collectives_ns': c.collectives_ns,
        'max_ns': c.max_ns,
        'median_ns': c.median_ns,
        'pass_count': c.pass_count,
        'shared_count': h.shared_count,
        'shared_ns': h.shared_ns,
        'streams': h.streams,
        'rank_count': (
            SELECT count(*)
            FROM device_time d JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id
            WHERE d.run_id = $run AND d.range_id IS NULL AND t.kind = c.kind
        )
    })::VARCHAR AS evidence
FROM finding_span s
JOIN c ON s.kind = c.kind AND s.stage IS NOT DISTINCT FROM c.stage AND s.device_id = c.device_id
LEFT JOIN shared h ON h.kind = c.kind AND h.stage IS NOT DISTINCT FROM c.stage AND h.device_id = c.device_id
WHERE s.run_id = $run AND s.span_ns > 0 AND c.exposed_ns > 0
