-- finding_copy: Copies from pageable memory, and copies not overlapped with kernels.
-- into: finding
-- needs: device_time memop

WITH copied AS (
    SELECT
        t.kind,
        p.stage,
        p.range_id,
        m.device_id,
        m.operation,
        coalesce(m.operation LIKE '%Host-to-Device%' AND m.src_memory = 'Pageable', false) AS is_pageable,
        count(*) AS copy_count,
        count(*) FILTER (m.src_memory = 'Pinned' OR m.dst_memory = 'Pinned') AS pinned_count,
        sum(m.duration_ns)::BIGINT AS sum_ns,
        sum(m.size_bytes)::BIGINT AS copied_bytes,
        coalesce(sum(m.launch_duration_ns), 0)::BIGINT AS call_ns,
        count(c.stream_id) AS shared_count,
        coalesce(sum(m.duration_ns) FILTER (c.stream_id IS NOT NULL), 0)::BIGINT AS shared_ns,
        list(DISTINCT c.stream_id) FILTER (c.stream_id IS NOT NULL) AS streams
    FROM memop m
    JOIN _finding_timeline t ON t.source_id = m.source_id
    LEFT JOIN _compute_stream c
        ON c.source_id = m.source_id
        AND c.pid IS NOT DISTINCT FROM m.pid
        AND c.device_id = m.device_id
        AND c.stream_id = m.stream_id
    LEFT JOIN _finding_place p ON p.range_context_id = m.range_context_id
    WHERE m.run_id = $run AND (p.stage IS NOT NULL OR NOT t.is_staged)
    GROUP BY ALL
), pageable AS ( -- copies of one pass are no repetition
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        count(*) AS pass_count,
        sum(c.copy_count)::BIGINT AS copy_count,
        sum(c.sum_ns)::BIGINT AS copies_ns,
        sum(c.copied_bytes)::BIGINT AS copied_bytes,
        sum(c.call_ns)::BIGINT AS call_ns,
        max(c.sum_ns) AS max_ns,
        median(c.sum_ns) AS median_ns
    FROM (
        SELECT
            c.kind,
            c.stage,
            c.range_id,
            c.device_id,
            sum(c.copy_count) AS copy_count,
            sum(c.sum_ns)::BIGINT AS sum_ns,
            sum(c.copied_bytes) AS copied_bytes,
            sum(c.call_ns) AS call_ns
        FROM copied c
        WHERE c.is_pageable
        GROUP BY ALL
    ) c
    GROUP BY c.kind, c.stage, c.device_id
), found AS ( -- what copies take while kernels run is no time to save
    SELECT
        s.kind,
        s.is_counted,
        s.stage,
        s.device_id,
        s.pass_count,
        s.span_ns,
        s.copy_ns,
        least(m.copies_ns, s.copy_ns) AS saving_ns,
        m.copy_count,
        m.copies_ns,
        m.copied_bytes,
        m.call_ns,
        m.max_ns,
        m.median_ns,
        m.pass_count AS copy_pass_count
    FROM finding_span s
    JOIN pageable m ON s.kind = m.kind AND s.stage IS NOT DISTINCT FROM m.stage AND s.device_id = m.device_id
    WHERE s.run_id = $run
        AND s.span_ns > 0
        AND m.copies_ns > 0
        AND s.copy_ns > 0
        AND m.copy_count > 1
        AND (
            s.stage IS NULL
            OR m.pass_count
                >= s.pass_count * (
                    SELECT r.value
                    FROM finding_rule r
                    WHERE r.finding_id = 'pageable-copies'
                )
        )
), rest AS (
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        c.operation,
        sum(c.copy_count)::BIGINT AS copy_count,
        sum(c.pinned_count)::BIGINT AS pinned_count,
        sum(c.sum_ns)::BIGINT AS sum_ns,
        sum(c.copied_bytes)::BIGINT AS copied_bytes,
        sum(c.shared_count)::BIGINT AS shared_count,
        sum(c.shared_ns)::BIGINT AS shared_ns,
        list_sort(list_distinct(flatten(list(c.streams) FILTER (c.streams IS NOT NULL)))) AS streams
    FROM copied c
    WHERE NOT c.is_pageable
        OR NOT EXISTS (
            SELECT 1
            FROM found f
            WHERE f.kind = c.kind AND f.stage IS NOT DISTINCT FROM c.stage AND f.device_id = c.device_id
        )
    GROUP BY ALL
), operation AS (
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        arg_max(
            {
                'operation': c.operation,
                'copy_count': c.copy_count,
                'pinned_count': c.pinned_count,
                'copies_ns': c.sum_ns,
                'copied_bytes': c.copied_bytes,
                'shared_count': c.shared_count,
                'shared_ns': c.shared_ns,
                'streams': c.streams
            },
            (c.sum_ns, c.operation)
        ) AS top,
        sum(c.sum_ns)::BIGINT AS all_ns
    FROM rest c
    GROUP BY c.kind, c.stage, c.device_id
), exposed AS ( -- that of pageable-copies is said there
    SELECT
        s.kind,
        s.is_counted,
        s.stage,
        s.device_id,
        s.pass_count,
        s.span_ns,
        s.copy_ns - coalesce(f.saving_ns, 0) AS saving_ns
    FROM finding_span s
    LEFT JOIN found f ON s.kind = f.kind AND s.stage IS NOT DISTINCT FROM f.stage AND s.device_id = f.device_id
    WHERE s.run_id = $run AND s.span_ns > 0
)
SELECT
    f.kind,
    f.is_counted,
    'pageable-copies' AS finding_id,
    f.stage,
    f.device_id,
    NULL AS subject,
    f.saving_ns,
    f.pass_count,
    f.span_ns,
    to_json({
        'copy_count': f.copy_count,
        'copied_bytes': f.copied_bytes,
        'copies_ns': f.copies_ns,
        'alone_ns': f.copy_ns,
        'call_ns': f.call_ns,
        'max_ns': f.max_ns,
        'median_ns': f.median_ns,
        'pass_count': f.copy_pass_count
    })::VARCHAR AS evidence
FROM found f
UNION ALL
SELECT
    e.kind,
    e.is_counted,
    'exposed-copies' AS finding_id,
    e.stage,
    e.device_id,
    m.top.operation AS subject,
    e.saving_ns,
    e.pass_count,
    e.span_ns,
    to_json({
        'copy_count': m.top.copy_count,
        'pinned_count': m.top.pinned_count,
        'copies_ns': m.top.copies_ns,
        'copied_bytes': m.top.copied_bytes,
        'all_ns': m.all_ns,
        'shared_count': m.top.shared_count,
        'shared_ns': m.top.shared_ns,
        'streams': m.top.streams
    })::VARCHAR AS evidence
FROM exposed e
JOIN operation m ON e.kind = m.kind AND e.stage IS NOT DISTINCT FROM m.stage AND e.device_id = m.device_id
WHERE e.saving_ns > 0
    AND e.saving_ns >= e.span_ns * (SELECT r.value FROM finding_rule r WHERE r.finding_id = 'exposed-copies')
