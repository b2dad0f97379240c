-- finding_collective: Collectives not overlapped with other kernels: what of that is known to be waiting for later ranks, and the rest.
-- into: finding
-- needs: _finding_part collective

WITH told AS (
    SELECT
        w.source_id,
        w.pid,
        w.device_id,
        w.own_start_ns,
        max(w.wait_ns) AS wait_ns
    FROM rank_wait w
    WHERE w.run_id = $run AND w.rank_count > 1 AND w.is_told
    GROUP BY w.source_id, w.pid, w.device_id, w.own_start_ns
), waited AS ( -- the pass of each
    SELECT
        x.source_id,
        x.device_id,
        p.range_id,
        sum(least(w.wait_ns, x.exposed_ns)) AS wait_ns
    FROM collective x
    JOIN told w
        ON w.source_id = x.source_id
        AND w.pid IS NOT DISTINCT FROM x.pid
        AND w.device_id = x.device_id
        AND w.own_start_ns = x.start_ns
    JOIN _finding_timeline t ON t.source_id = x.source_id
    LEFT JOIN pass_context p ON p.run_id = x.run_id AND p.range_context_id = x.range_context_id AND t.is_staged AND NOT p.is_warmup
    WHERE x.run_id = $run AND (NOT t.is_staged OR p.range_id IS NOT NULL)
    GROUP BY x.source_id, x.device_id, p.range_id
), part AS (
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        c.range_id,
        c.end_ns - c.start_ns AS span_ns,
        c.collective_count,
        c.collective_ns,
        c.exposed_ns,
        w.source_id IS NOT NULL AS is_told,
        least(coalesce(w.wait_ns, 0), c.exposed_ns) AS wait_ns
    FROM _finding_part c
    LEFT JOIN waited w
        ON w.source_id = c.source_id AND w.device_id = c.device_id AND w.range_id IS NOT DISTINCT FROM c.range_id
    WHERE c.collective_count > 0
), c AS (
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        k.finding_id,
        sum(c.collective_count)::BIGINT AS collective_count,
        sum(c.collective_ns)::BIGINT AS collectives_ns,
        sum(c.exposed_ns)::BIGINT AS exposed_ns,
        CASE WHEN bool_or(c.is_told) THEN sum(c.wait_ns)::BIGINT END AS wait_ns,
        sum(k.ns)::BIGINT AS ns,
        max(k.ns)::BIGINT AS max_ns,
        _median_saving(k.ns, c.span_ns) AS median_ns,
        count(*) AS pass_count
    FROM part c, LATERAL (
        VALUES ('collective-wait', c.wait_ns), ('exposed-collectives', c.exposed_ns - c.wait_ns)
    ) k(finding_id, ns)
    GROUP BY c.kind, c.stage, c.device_id, k.finding_id
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
), late AS (
    SELECT
        l.kind,
        l.stage,
        l.device_id,
        list(
            {
                'device': l.late_device_id,
                'wait_ns': l.wait_ns,
                'longest_ns': l.longest_ns,
                'cause': l.cause,
                'cause_ns': l.cause_ns,
                'call': l.call,
                'call_ns': l.call_ns
            }
            ORDER BY l.wait_ns DESC, l.late_source_id, l.late_device_id
        ) AS late
    FROM _late_wait l
    GROUP BY l.kind, l.stage, l.device_id
)
SELECT
    s.kind,
    s.is_counted,
    c.finding_id,
    s.stage,
    s.device_id,
    NULL AS subject,
    c.ns AS saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'collective_count': c.collective_count,
        'collectives_ns': c.collectives_ns,
        'exposed_ns': c.exposed_ns,
        'wait_ns': c.wait_ns,
        'max_ns': c.max_ns,
        'median_ns': c.median_ns,
        'pass_count': c.pass_count,
        'shared_count': h.shared_count,
        'shared_ns': h.shared_ns,
        'streams': h.streams,
        'late': CASE c.finding_id WHEN 'collective-wait' THEN w.late END,
        'rank_count': (
            SELECT count(*)
            FROM device_time d JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id
            WHERE d.run_id = $run AND d.range_id IS NULL AND t.kind = c.kind
        )
    })::VARCHAR AS evidence
FROM finding_span s
JOIN c ON s.kind = c.kind AND s.stage IS NOT DISTINCT FROM c.stage AND s.device_id = c.device_id
LEFT JOIN shared h ON h.kind = c.kind AND h.stage IS NOT DISTINCT FROM c.stage AND h.device_id = c.device_id
LEFT JOIN late w ON w.kind = c.kind AND w.stage IS NOT DISTINCT FROM c.stage AND w.device_id = c.device_id
WHERE s.run_id = $run AND s.span_ns > 0 AND c.ns > 0
