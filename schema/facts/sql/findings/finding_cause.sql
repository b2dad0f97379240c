-- finding_cause: Idle time in Python's garbage collector, in waits for its lock, and in compiling and loading code and allocating memory.
-- into: finding
-- needs: _finding_part _pause

WITH c AS (
    SELECT
        p.kind,
        p.stage,
        p.device_id,
        x.finding_id,
        sum(x.ns)::BIGINT AS saving_ns,
        max(x.ns) AS max_ns,
        _median_saving(x.ns, p.end_ns - p.start_ns) AS median_ns,
        count(*) AS pass_count
    FROM _finding_part p
    CROSS JOIN LATERAL (
        SELECT
            'gc-pauses' AS finding_id,
            p.collect_ns AS ns
        UNION ALL
        SELECT 'gil-wait', p.gil_ns
        UNION ALL
        SELECT
            'code-loading',
            p.compile_ns + p.load_ns
        UNION ALL
        SELECT 'allocator-calls', p.allocate_ns
    ) x
    GROUP BY p.kind, p.stage, p.device_id, x.finding_id
), did AS ( -- something in two gaps counts once
    SELECT
        p.kind,
        p.stage,
        p.device_id,
        CASE y.cause
            WHEN 'collect' THEN 'gc-pauses'
            WHEN 'gil' THEN 'gil-wait'
            WHEN 'allocate' THEN 'allocator-calls'
            ELSE 'code-loading'
        END AS finding_id,
        y.name,
        y.pid,
        y.tid,
        y.begun_ns,
        sum(y.end_ns - y.start_ns)::BIGINT AS ns,
        bool_or(y.is_failed) AS is_failed
    FROM _pause y
    JOIN _finding_part p
        ON p.source_id = y.source_id
        AND p.device_id = y.device_id
        AND y.gap_start_ns >= p.start_ns
        AND y.gap_start_ns < p.end_ns
    GROUP BY ALL
), held AS ( -- by the other threads of the process but the profiler's, which takes the lock for each sample
    SELECT
        p.kind,
        p.stage,
        p.device_id,
        n.tid,
        sum(least(n.start_ns + n.duration_ns, p.end_ns) - n.start_ns)::BIGINT AS held_ns
    FROM (
        SELECT DISTINCT y.source_id, y.device_id, y.pid, y.tid
        FROM _pause y
        WHERE y.cause = 'gil'
    ) w
    JOIN range_path x ON x.run_id = $run AND x.name = 'Holding GIL'
    JOIN nvtx_range n
        ON n.run_id = $run AND n.path_id = x.path_id AND n.source_id = w.source_id AND n.pid = w.pid AND n.tid <> w.tid
    LEFT JOIN thread h ON h.run_id = $run AND h.source_id = n.source_id AND h.pid = n.pid AND h.tid = n.tid
    JOIN _finding_part p
        ON p.source_id = n.source_id
        AND p.device_id = w.device_id
        AND n.start_ns >= p.start_ns
        AND n.start_ns < p.end_ns
    WHERE NOT coalesce(starts_with(h.name, 'NSys '), false)
    GROUP BY p.kind, p.stage, p.device_id, n.tid
), holder AS (
    SELECT
        h.kind,
        h.stage,
        h.device_id,
        arg_max(h.tid, (h.held_ns, h.tid)) AS holder_tid,
        max(h.held_ns) AS held_ns
    FROM held h
    GROUP BY h.kind, h.stage, h.device_id
), meant AS ( -- a thread and when: the one that collects, and while the launching thread waits the one that held the lock longest
    SELECT
        y.source_id,
        y.pid,
        CASE y.cause WHEN 'gil' THEN h.holder_tid ELSE y.tid END AS tid,
        y.start_ns,
        y.end_ns,
        p.kind,
        coalesce(p.stage, '') AS stage,
        p.device_id,
        CASE y.cause WHEN 'gil' THEN 'gil-wait' ELSE 'gc-pauses' END AS finding_id
    FROM _pause y
    JOIN _finding_part p
        ON p.source_id = y.source_id
        AND p.device_id = y.device_id
        AND y.gap_start_ns >= p.start_ns
        AND y.gap_start_ns < p.end_ns
    LEFT JOIN holder h ON h.kind = p.kind AND h.stage IS NOT DISTINCT FROM p.stage AND h.device_id = p.device_id
    WHERE y.cause IN ('gil', 'collect')
), asked AS (
    SELECT DISTINCT m.source_id, m.pid, m.tid, m.kind, m.stage, m.device_id, m.finding_id
    FROM meant m
), line AS ( -- of the user's own code
    SELECT
        m.kind,
        m.stage,
        m.device_id,
        m.finding_id,
        l.line || ' ' || l.function AS line,
        count(*) AS n
    FROM (
        SELECT
            a.source_id,
            a.pid,
            a.tid,
            a.kind,
            a.stage,
            a.device_id,
            a.finding_id,
            x.time_ns,
            x.stack_id
        FROM asked a
        JOIN python_sample x ON x.run_id = $run AND x.source_id = a.source_id AND x.pid = a.pid AND x.tid = a.tid
    ) x
    ASOF JOIN meant m
        ON m.source_id = x.source_id
        AND m.pid = x.pid
        AND m.tid = x.tid
        AND m.kind = x.kind
        AND m.stage = x.stage
        AND m.device_id = x.device_id
        AND m.finding_id = x.finding_id
        AND m.start_ns <= x.time_ns
    JOIN stack_line y ON y.run_id = $run AND y.stack_id = x.stack_id
    JOIN stack_line l ON l.run_id = $run AND l.stack_id = y.own_stack_id
    WHERE x.time_ns < m.end_ns
    GROUP BY m.kind, m.stage, m.device_id, m.finding_id, l.line || ' ' || l.function
), lines AS (
    SELECT
        n.kind,
        n.stage,
        n.device_id,
        n.finding_id,
        arg_max(n.line, (n.n, n.line)) AS line,
        max(n.n) AS line_count,
        sum(n.n)::BIGINT AS sample_count
    FROM line n
    GROUP BY n.kind, n.stage, n.device_id, n.finding_id
), name AS (
    SELECT
        d.kind,
        d.stage,
        d.device_id,
        d.finding_id,
        d.name,
        count(*) AS call_count,
        sum(d.ns)::BIGINT AS calls_ns,
        count(*) FILTER (d.is_failed) AS failed_count
    FROM did d
    GROUP BY d.kind, d.stage, d.device_id, d.finding_id, d.name
), waited AS ( -- not every kind records waits for the lock
    SELECT arg_min(t.kind, array_position([{'timelines'}], t.kind)) AS kind
    FROM timeline t
    WHERE t.run_id = $run AND t.source_id IN (SELECT y.source_id FROM _pause y WHERE y.cause = 'gil')
), top AS (
    SELECT
        n.kind,
        n.stage,
        n.device_id,
        n.finding_id,
        arg_max({'name': n.name, 'call_count': n.call_count, 'calls_ns': n.calls_ns}, (n.calls_ns, n.name)) AS top,
        sum(n.call_count)::BIGINT AS all_count,
        sum(n.failed_count)::BIGINT AS failed_count
    FROM name n
    GROUP BY n.kind, n.stage, n.device_id, n.finding_id
)
SELECT
    s.kind,
    CASE WHEN c.finding_id = 'gil-wait' THEN s.kind = (SELECT w.kind FROM waited w) ELSE s.is_counted END AS is_counted,
    c.finding_id,
    s.stage,
    s.device_id,
    t.top.name AS subject,
    c.saving_ns,
    s.pass_count,
    s.span_ns,
    json_merge_patch(
        to_json({
            'max_ns': c.max_ns,
            'median_ns': c.median_ns,
            'pass_count': c.pass_count,
            'call_count': t.top.call_count,
            'calls_ns': t.top.calls_ns,
            'all_count': t.all_count,
            'failed_count': t.failed_count,
            'retry_count': a.retry_count,
            'got_bytes': a.got_bytes,
            'given_bytes': a.given_bytes,
            'block_bytes': a.block_bytes,
            'holder_tid': h.holder_tid,
            'held_ns': h.held_ns
        }),
        CASE
            WHEN l.line IS NOT NULL
                THEN to_json({'line': l.line, 'line_count': l.line_count, 'sample_count': l.sample_count})
            ELSE '{}'
        END,
        CASE WHEN c.finding_id = 'gil-wait' AND NOT s.is_counted THEN to_json({'apart_kind': s.kind}) ELSE '{}' END
    )::VARCHAR AS evidence
FROM finding_span s
JOIN c ON c.kind = s.kind AND c.stage IS NOT DISTINCT FROM s.stage AND c.device_id = s.device_id
JOIN top t
    ON t.kind = c.kind
    AND t.stage IS NOT DISTINCT FROM c.stage
    AND t.device_id = c.device_id
    AND t.finding_id = c.finding_id
LEFT JOIN holder h
    ON c.finding_id = 'gil-wait'
    AND h.kind = c.kind
    AND h.stage IS NOT DISTINCT FROM c.stage
    AND h.device_id = c.device_id
LEFT JOIN lines l
    ON l.kind = c.kind AND l.stage = coalesce(c.stage, '') AND l.device_id = c.device_id AND l.finding_id = c.finding_id
LEFT JOIN _allocator a
    ON c.finding_id = 'allocator-calls'
    AND a.kind = c.kind
    AND a.stage IS NOT DISTINCT FROM c.stage
    AND a.device_id = c.device_id
WHERE s.run_id = $run AND s.span_ns > 0 AND c.saving_ns > 0
