-- finding: What could make the work faster, by the rules in finding_rule: the time each could save over a stage's measured passes, and the
--     figures behind it.
-- grain: one rule, stage and GPU (and kernel, for rules about kernels), per timeline kind
-- key: kind, finding_id, stage, device_id, subject
-- needs: device_time
-- columns:
--   kind VARCHAR: {timelines}
--   is_counted BOOLEAN: as in timeline; of gil-wait, whether it is of the first kind that recorded waits for Python's lock
--   finding_id VARCHAR: rule name
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   subject VARCHAR: what it is mostly about, as in finding_rule; NULL when unknown
--   saving_ns BIGINT: saving over the measured passes
--   pass_count BIGINT: measured passes of the stage on the GPU
--   span_ns BIGINT: sum of the spans of these passes
--   evidence VARCHAR: figures behind it, by name, in base units, as JSON

WITH s AS ( -- what finding_cause and finding_wait are about is said there
    SELECT
        s.kind,
        s.is_counted,
        s.stage,
        s.device_id,
        s.pass_count,
        s.span_ns,
        s.busy_ns,
        s.pass_span_ns,
        s.pass_busy_ns,
        s.graph_ns,
        s.gap_count
    FROM finding_span s
    WHERE s.run_id = $run AND s.span_ns > 0
), idle AS (
    SELECT
        i.kind,
        i.stage,
        i.device_id,
        i.cause,
        i.idle_ns - i.named_ns AS ns,
        i.rest_max_ns,
        i.rest_median_ns
    FROM finding_idle i
    WHERE i.run_id = $run
), part AS (
    SELECT
        i.kind,
        i.stage,
        i.device_id,
        sum(i.ns - i.named_ns) FILTER (i.part = 'launch') AS launch_ns,
        sum(i.ns - i.named_ns) FILTER (i.part = 'launch-delay') AS launch_delay_ns,
        sum(i.ns - i.named_ns) FILTER (i.part = 'launch-latency') AS launch_latency_ns
    FROM _finding_idle i
    GROUP BY i.kind, i.stage, i.device_id
), work AS (
    SELECT
        w.kind,
        w.stage,
        w.device_id,
        coalesce(sum(w.sum_ns) FILTER (w.is_graph), 0)::BIGINT AS graph_ns,
        coalesce(sum(w.sum_ns) FILTER (NOT w.is_graph), 0)::BIGINT AS single_ns,
        coalesce(sum(w.launch_count) FILTER (NOT w.is_graph), 0)::BIGINT AS single_count
    FROM _finding_work w
    GROUP BY w.kind, w.stage, w.device_id
), replay AS (
    SELECT
        t.kind,
        p.stage,
        g.device_id,
        count(*) AS replay_count
    FROM graph_launch g
    JOIN _finding_timeline t ON t.source_id = g.source_id
    LEFT JOIN _finding_place p ON p.range_context_id = g.range_context_id
    WHERE g.run_id = $run AND (p.stage IS NOT NULL OR NOT t.is_staged)
    GROUP BY t.kind, p.stage, g.device_id
), launch AS (
    SELECT
        s.kind,
        s.stage,
        s.device_id,
        p.launch_ns::BIGINT AS launch_ns,
        p.launch_delay_ns::BIGINT AS launch_delay_ns,
        p.launch_latency_ns::BIGINT AS launch_latency_ns,
        CASE
            WHEN s.stage IS NULL THEN s.busy_ns / s.span_ns
            ELSE s.pass_busy_ns / s.pass_span_ns
        END AS busy_ratio,
        i.ns,
        i.rest_max_ns,
        i.rest_median_ns,
        s.pass_count,
        coalesce(w.single_count, 0) AS single_count,
        coalesce(w.single_ns, 0) AS single_ns,
        coalesce(g.replay_count, 0) AS replay_count,
        (coalesce(w.graph_ns, 0) + s.graph_ns)
            / nullif(coalesce(w.graph_ns + w.single_ns, 0) + s.graph_ns, 0) AS graph_ratio
    FROM s
    JOIN idle i
        ON i.cause = 'launch-bound'
        AND i.kind = s.kind
        AND i.stage IS NOT DISTINCT FROM s.stage
        AND i.device_id = s.device_id
    JOIN part p ON p.kind = s.kind AND p.stage IS NOT DISTINCT FROM s.stage AND p.device_id = s.device_id
    LEFT JOIN work w ON w.kind = s.kind AND w.stage IS NOT DISTINCT FROM s.stage AND w.device_id = s.device_id
    LEFT JOIN replay g ON g.kind = s.kind AND g.stage IS NOT DISTINCT FROM s.stage AND g.device_id = s.device_id
), wait AS (
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        sum(c.call_count)::BIGINT AS call_count,
        sum(c.sum_ns)::BIGINT AS calls_ns,
        arg_max(c.api, (c.sum_ns, c.api)) AS api
    FROM finding_call c
    WHERE c.run_id = $run AND c.call_kind IN ('wait', 'copy')
    GROUP BY c.kind, c.stage, c.device_id
), named AS ( -- what finding_cause names
    SELECT DISTINCT
        p.kind,
        p.stage,
        p.device_id,
        y.name AS api
    FROM _pause y
    JOIN _finding_part p
        ON p.source_id = y.source_id
        AND p.device_id = y.device_id
        AND y.gap_start_ns >= p.start_ns
        AND y.gap_start_ns < p.end_ns
    WHERE y.cause IN ('allocate', 'load')
), other AS (
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        arg_max(
            {'api': c.api, 'is_load': c.call_kind = 'load', 'call_count': c.call_count, 'calls_ns': c.sum_ns},
            (c.sum_ns, c.api)
        ) AS top
    FROM finding_call c
    LEFT JOIN named x
        ON x.kind = c.kind AND x.stage IS NOT DISTINCT FROM c.stage AND x.device_id = c.device_id AND x.api = c.api
    WHERE c.run_id = $run AND c.call_kind IN ('other', 'load') AND x.api IS NULL
    GROUP BY c.kind, c.stage, c.device_id
), held AS ( -- by the longest gaps that begin within the passes
    SELECT
        p.kind,
        p.stage,
        p.device_id,
        g.path_id,
        sum(h.ns - coalesce(c.host_ns, 0)) AS host_ns
    FROM gap g
    JOIN gap_part h
        ON h.run_id = $run
        AND h.source_id = g.source_id
        AND h.device_id = g.device_id
        AND h.start_ns = g.start_ns
        AND h.part = 'host'
    JOIN _finding_part p
        ON p.source_id = g.source_id
        AND p.device_id = g.device_id
        AND g.start_ns >= p.start_ns
        AND g.start_ns < p.end_ns
    LEFT JOIN _gap_pause c ON c.source_id = g.source_id AND c.device_id = g.device_id AND c.start_ns = g.start_ns
    WHERE g.run_id = $run AND h.ns > coalesce(c.host_ns, 0)
    GROUP BY p.kind, p.stage, p.device_id, g.path_id
), holder AS (
    SELECT
        h.kind,
        h.stage,
        h.device_id,
        arg_max(x.path, (h.host_ns, x.path)) AS path
    FROM held h JOIN range_path x ON x.run_id = $run AND x.path_id = h.path_id
    GROUP BY h.kind, h.stage, h.device_id
), line AS ( -- of the user's own code, by the longest gaps too
    SELECT
        q.kind,
        q.stage,
        q.device_id,
        arg_max(q.line, (q.host_ns, q.line)) AS line,
        max(q.host_ns) AS host_ns
    FROM (
        SELECT
            p.kind,
            p.stage,
            p.device_id,
            l.line || ' ' || l.function AS line,
            sum(g.ns - coalesce(c.host_ns, 0))::BIGINT AS host_ns
        FROM gap_stack x
        JOIN stack_line y ON y.run_id = $run AND y.stack_id = x.stack_id
        JOIN stack_line l ON l.run_id = $run AND l.stack_id = y.own_stack_id
        JOIN gap_part g
            ON g.run_id = $run
            AND g.source_id = x.source_id
            AND g.device_id = x.device_id
            AND g.start_ns = x.start_ns
            AND g.part = 'host'
        JOIN _finding_part p
            ON p.source_id = g.source_id
            AND p.device_id = g.device_id
            AND g.start_ns >= p.start_ns
            AND g.start_ns < p.end_ns
        LEFT JOIN _gap_pause c ON c.source_id = g.source_id AND c.device_id = g.device_id AND c.start_ns = g.start_ns
        WHERE x.run_id = $run AND g.ns > coalesce(c.host_ns, 0)
        GROUP BY ALL
    ) q
    GROUP BY q.kind, q.stage, q.device_id
), other_line AS ( -- for a kind without lines, of the first that has them
    SELECT
        l.stage,
        l.device_id,
        arg_min({'kind': l.kind, 'line': l.line}, array_position([{'timelines'}], l.kind)) AS first
    FROM line l
    GROUP BY l.stage, l.device_id
), before AS (
    SELECT
        b.kind,
        b.stage,
        b.device_id,
        b.cause,
        to_json({
            'before': b.family,
            'before_role': b.role,
            'before_library': b.library,
            'before_ns': b.ns,
            'step_count': b.step_count,
            'pass_step_count': b.pass_step_count
        }) AS members
    FROM _gap_before b
), f AS (
    SELECT
        CASE
            WHEN l.graph_ratio > (
                    SELECT r.value
                    FROM finding_rule r
                    WHERE r.finding_id = 'graph-gaps'
                )
                THEN 'graph-gaps'
            ELSE 'launch-bound'
        END AS finding_id,
        l.kind,
        l.stage,
        l.device_id,
        'launch-bound' AS cause,
        NULL::VARCHAR AS subject,
        l.ns AS saving_ns,
        to_json({
            'busy_ratio': l.busy_ratio,
            'launch_ns': l.launch_ns,
            'launch_delay_ns': l.launch_delay_ns,
            'launch_latency_ns': l.launch_latency_ns,
            'max_ns': l.rest_max_ns,
            'median_ns': l.rest_median_ns,
            'pass_count': l.pass_count,
            'single_count': l.single_count,
            'single_ns': l.single_ns,
            'replay_count': l.replay_count,
            'graph_ratio': l.graph_ratio
        })::VARCHAR AS evidence
    FROM launch l
    UNION ALL
    SELECT
        'wait',
        s.kind,
        s.stage,
        s.device_id,
        i.cause,
        NULL,
        i.ns,
        to_json({
            'max_ns': i.rest_max_ns,
            'median_ns': i.rest_median_ns,
            'pass_count': s.pass_count,
            'call_count': c.call_count,
            'calls_ns': c.calls_ns,
            'api': c.api
        })::VARCHAR
    FROM s
    JOIN idle i
        ON i.cause = 'wait' AND i.kind = s.kind AND i.stage IS NOT DISTINCT FROM s.stage AND i.device_id = s.device_id
    LEFT JOIN wait c ON c.kind = s.kind AND c.stage IS NOT DISTINCT FROM s.stage AND c.device_id = s.device_id
    UNION ALL
    SELECT
        'call',
        s.kind,
        s.stage,
        s.device_id,
        i.cause,
        c.top.api,
        i.ns,
        to_json({
            'max_ns': i.rest_max_ns,
            'median_ns': i.rest_median_ns,
            'pass_count': s.pass_count,
            'call_count': c.top.call_count,
            'calls_ns': c.top.calls_ns,
            'is_load': c.top.is_load
        })::VARCHAR
    FROM s
    JOIN idle i
        ON i.cause = 'call' AND i.kind = s.kind AND i.stage IS NOT DISTINCT FROM s.stage AND i.device_id = s.device_id
    LEFT JOIN other c ON c.kind = s.kind AND c.stage IS NOT DISTINCT FROM s.stage AND c.device_id = s.device_id
    UNION ALL
    SELECT
        'host',
        s.kind,
        s.stage,
        s.device_id,
        i.cause,
        h.path,
        i.ns,
        json_merge_patch(
            to_json({'max_ns': i.rest_max_ns, 'median_ns': i.rest_median_ns, 'pass_count': s.pass_count}),
            CASE
                WHEN l.line IS NOT NULL THEN to_json({'line': l.line, 'line_ns': l.host_ns})
                WHEN o.first IS NOT NULL THEN to_json({'line': o.first.line, 'line_kind': o.first.kind})
                ELSE '{}'
            END
        )::VARCHAR
    FROM s
    JOIN idle i
        ON i.cause = 'host' AND i.kind = s.kind AND i.stage IS NOT DISTINCT FROM s.stage AND i.device_id = s.device_id
    LEFT JOIN holder h ON h.kind = s.kind AND h.stage IS NOT DISTINCT FROM s.stage AND h.device_id = s.device_id
    LEFT JOIN line l ON l.kind = s.kind AND l.stage IS NOT DISTINCT FROM s.stage AND l.device_id = s.device_id
    LEFT JOIN other_line o ON o.stage IS NOT DISTINCT FROM s.stage AND o.device_id = s.device_id
    UNION ALL
    SELECT
        'queued',
        s.kind,
        s.stage,
        s.device_id,
        i.cause,
        NULL,
        i.ns,
        to_json({
            'max_ns': i.rest_max_ns,
            'median_ns': i.rest_median_ns,
            'pass_count': s.pass_count,
            'gap_count': s.gap_count
        })::VARCHAR
    FROM s
    JOIN idle i
        ON i.cause = 'queued' AND i.kind = s.kind AND i.stage IS NOT DISTINCT FROM s.stage AND i.device_id = s.device_id
)
SELECT
    f.kind,
    s.is_counted,
    f.finding_id,
    f.stage,
    f.device_id,
    f.subject,
    f.saving_ns,
    s.pass_count,
    s.span_ns,
    CASE
        WHEN b.members IS NULL OR f.finding_id = 'graph-gaps' THEN f.evidence
        ELSE json_merge_patch(f.evidence::JSON, b.members)::VARCHAR
    END AS evidence
FROM f
JOIN s ON s.kind = f.kind AND s.stage IS NOT DISTINCT FROM f.stage AND s.device_id = f.device_id
LEFT JOIN before b
    ON b.kind = f.kind AND b.stage IS NOT DISTINCT FROM f.stage AND b.device_id = f.device_id AND b.cause = f.cause
WHERE f.saving_ns > 0
