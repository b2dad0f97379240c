-- run-trend v3: A stage's times and rates in every run of every workload, as prof query trend has one metric of one workload.
-- grain: one run, stage and metric
-- key: run_id, stage, metric
-- columns:
--   metric: gpu_span_ns, gpu_busy_ns, gpu_sum_ns or cpu_ns per pass, or mfu_ratio, mbu_ratio or tokens_per_s of the median one

WITH w AS (
    SELECT x.run_id, x.run, x.at, x.workload, x.commit, x.branch, x.is_dirty, x.host, x.prof_version
    FROM (
        SELECT
            r.run_id,
            r.name AS run,
            coalesce(r.started_at, r.created_at) AS at,
            coalesce(c.workload_key, r.command, g.value, b.model) AS workload,
            c.git_commit AS commit,
            c.git_branch AS branch,
            c.is_git_dirty AS is_dirty,
            r.host,
            r.prof_version
        FROM run r
        LEFT JOIN ( -- of a job the first node
            SELECT
                c.run_id,
                c.workload_key,
                c.git_commit,
                c.git_branch,
                c.is_git_dirty,
                c.source_id,
                min(c.source_id) OVER (PARTITION BY c.run_id) AS first_id
            FROM capture c
        ) c ON c.run_id = r.run_id AND c.source_id = c.first_id
        LEFT JOIN run_tag g ON g.run_id = r.run_id AND g.key = 'workload'
        LEFT JOIN (
            SELECT
                b.run_id,
                CASE WHEN min(b.model) = max(b.model) THEN min(b.model) END AS model
            FROM serving_benchmark b
            GROUP BY b.run_id
        ) b ON b.run_id = r.run_id
    ) x
    WHERE x.workload IS NOT NULL
), staged AS (
    SELECT DISTINCT s.run_id
    FROM stage_pass s
    WHERE s.is_counted
), whole AS ( -- runs without passes of stages: one sample a capture
    SELECT
        k.run_id,
        k.source_id,
        CAST(sum(k.sum_ns) AS BIGINT) AS gpu_sum_ns,
        CAST(max(k.end_ns) - min(k.start_ns) AS BIGINT) AS gpu_span_ns,
        CAST(sum(k.busy_ns) AS BIGINT) AS gpu_busy_ns
    FROM (
        SELECT
            k.run_id,
            k.source_id,
            k.is_counted,
            k.sum_ns,
            CAST(NULL AS BIGINT) AS start_ns,
            CAST(NULL AS BIGINT) AS end_ns,
            CAST(NULL AS BIGINT) AS busy_ns
        FROM work_sum k
        UNION ALL
        SELECT
            d.run_id,
            d.source_id,
            CAST(NULL AS BOOLEAN),
            CAST(NULL AS BIGINT),
            d.start_ns,
            d.end_ns,
            d.kernel_ns + d.graph_ns + d.copy_ns
        FROM device_time d
        WHERE d.range_id IS NULL
    ) k
    LEFT JOIN staged x ON x.run_id = k.run_id
    WHERE x.run_id IS NULL
    GROUP BY k.run_id, k.source_id
    HAVING bool_or(k.is_counted)
), p AS (
    SELECT
        s.run_id,
        s.source_id,
        s.range_id,
        s.stage,
        s.cpu_ns,
        s.gpu_span_ns,
        s.gpu_busy_ns,
        s.gpu_sum_ns,
        s.prompt_token_count,
        s.decode_token_count,
        s.sequence_count
    FROM (
    {{wholePass}}    ) s
    UNION ALL
    SELECT
        k.run_id,
        k.source_id,
        CAST(NULL AS BIGINT),
        '(run)',
        CAST(NULL AS BIGINT),
        k.gpu_span_ns,
        k.gpu_busy_ns,
        k.gpu_sum_ns,
        CAST(NULL AS BIGINT),
        CAST(NULL AS BIGINT),
        CAST(NULL AS BIGINT)
    FROM whole k
), metric AS (
    SELECT 'gpu_span_ns' AS metric
    UNION ALL
    SELECT 'gpu_busy_ns'
    UNION ALL
    SELECT 'gpu_sum_ns'
    UNION ALL
    SELECT 'cpu_ns'
    UNION ALL
    SELECT 'mfu_ratio'
    UNION ALL
    SELECT 'mbu_ratio'
    UNION ALL
    SELECT 'tokens_per_s'
), v AS (
    SELECT
        p.run_id,
        p.source_id,
        p.range_id,
        p.stage,
        m.metric,
        p.prompt_token_count,
        p.decode_token_count,
        p.sequence_count,
        CASE WHEN p.gpu_span_ns > 0 THEN p.gpu_span_ns END AS span_ns,
        CASE m.metric
            WHEN 'gpu_span_ns' THEN p.gpu_span_ns
            WHEN 'gpu_busy_ns' THEN p.gpu_busy_ns
            WHEN 'gpu_sum_ns' THEN p.gpu_sum_ns
            WHEN 'cpu_ns' THEN p.cpu_ns
        END AS value
    FROM p CROSS JOIN metric m
), n AS (
    SELECT
        v.run_id,
        v.source_id,
        v.stage,
        v.metric,
        v.prompt_token_count,
        v.decode_token_count,
        v.sequence_count,
        v.span_ns,
        v.value,
        row_number() OVER (PARTITION BY v.run_id, v.stage, v.metric ORDER BY v.value NULLS LAST) AS nth,
        count(v.value) OVER (PARTITION BY v.run_id, v.stage, v.metric) AS value_count,
        row_number() OVER (PARTITION BY v.run_id, v.stage, v.metric ORDER BY v.span_ns NULLS LAST, v.range_id) AS span_nth,
        count(v.span_ns) OVER (PARTITION BY v.run_id, v.stage, v.metric) AS span_count
    FROM v
), g AS (
    SELECT
        v.run_id,
        v.stage,
        v.metric,
        min(v.source_id) AS source_id,
        count(v.value) AS passes,
        count(*) AS all_passes,
        {{median "v.value" "v.nth" "v.value_count"}} AS value,
        {{mean "v.value"}} AS mean,
        sum(v.value) AS total,
        {{squares "v.value"}} AS squares,
        CASE
            WHEN v.metric = 'tokens_per_s' AND count(v.span_ns + v.prompt_token_count + v.decode_token_count) = count(*)
                THEN {{middle "v.prompt_token_count + v.decode_token_count" "v.span_nth" "v.span_count"}}
                    / ({{median "v.span_ns" "v.span_nth" "v.span_count"}} / 1E9)
        END AS token_rate,
        CASE
            WHEN min(v.prompt_token_count) = max(v.prompt_token_count) THEN min(v.prompt_token_count)
        END AS prompt_token_count,
        CASE
            WHEN min(v.decode_token_count) = max(v.decode_token_count) THEN min(v.decode_token_count)
        END AS decode_token_count,
        CASE WHEN min(v.sequence_count) = max(v.sequence_count) THEN min(v.sequence_count) END AS sequence_count,
        coalesce(
            min(v.prompt_token_count) <> max(v.prompt_token_count)
                OR min(v.decode_token_count) <> max(v.decode_token_count)
                OR min(v.sequence_count) <> max(v.sequence_count),
            false
        ) AS is_varying
    FROM n v
    GROUP BY v.run_id, v.stage, v.metric
), named AS ( -- a GPU's own figures first, then by an alias of the user's
    SELECT DISTINCT
        p.device AS name,
        p.device,
        0 AS place,
        '' AS doc
    FROM device_peak p
    UNION ALL
    SELECT
        a.alias,
        a.device,
        CASE a.origin WHEN 'builtin' THEN 2 ELSE 1 END,
        a.doc
    FROM device_alias a
), roof AS (
    SELECT
        a.name,
        p.resource,
        p.flop_per_s,
        p.bytes_per_s,
        row_number() OVER (
            PARTITION BY a.name, p.resource
            ORDER BY a.place, a.device, a.doc, CASE WHEN p.origin = 'builtin' THEN 1 ELSE 0 END,
                CASE WHEN p.accumulate IS NULL THEN 2 WHEN p.accumulate = 'fp16' THEN 1 ELSE 0 END,
                p.checked_on DESC NULLS LAST, p.flop_per_s DESC NULLS LAST, p.reference NULLS LAST
        ) AS place
    FROM named a JOIN device_peak p ON p.device = a.device
), peak AS (
    SELECT
        f.run_id,
        f.stage,
        f.flop,
        f.moved_bytes,
        f.device_ns,
        f.max_flop_per_s,
        f.max_bytes_per_s,
        p.resource,
        p.flop_per_s,
        max(CASE WHEN p.resource = 'dram' THEN p.bytes_per_s END) OVER (PARTITION BY f.run_id, f.stage) AS bytes_per_s,
        row_number() OVER (
            PARTITION BY f.run_id, f.stage
            ORDER BY CASE WHEN p.resource <> 'dram' THEN p.resource END DESC NULLS LAST
        ) AS place
    FROM stage_figure f
    LEFT JOIN roof p
        ON p.place = 1
        AND p.name = f.gpu
        AND (
            p.resource IN ('dram', 'tensor_' || f.precision)
            OR p.resource = f.precision AND f.precision IN ('fp32', 'fp64')
        )
), f AS (
    SELECT
        p.run_id,
        p.stage,
        p.flop,
        p.moved_bytes,
        p.device_ns,
        CASE WHEN p.resource <> 'dram' THEN p.flop_per_s END AS flop_per_s,
        p.bytes_per_s,
        coalesce(
            p.max_flop_per_s > CASE WHEN p.resource <> 'dram' THEN p.flop_per_s END
                OR p.max_bytes_per_s > p.bytes_per_s,
            false
        ) AS is_above
    FROM peak p
    WHERE p.place = 1
), u AS (
    SELECT
        f.run_id,
        f.stage,
        CASE WHEN NOT f.is_above THEN f.flop / nullif(f.flop_per_s * f.device_ns / 1E9, 0) END AS mfu_ratio,
        CASE WHEN NOT f.is_above THEN f.moved_bytes / nullif(f.bytes_per_s * f.device_ns / 1E9, 0) END AS mbu_ratio
    FROM f
), q AS (
    SELECT
        g.run_id,
        g.stage,
        g.metric,
        g.source_id,
        g.value,
        g.mean,
        {{std "g.passes" "g.total" "g.squares"}} AS std,
        g.passes,
        g.all_passes,
        g.prompt_token_count,
        g.decode_token_count,
        g.sequence_count,
        g.is_varying,
        coalesce(
            g.token_rate,
            CASE g.metric WHEN 'mfu_ratio' THEN u.mfu_ratio WHEN 'mbu_ratio' THEN u.mbu_ratio END
        ) AS rate
    FROM g LEFT JOIN u ON u.run_id = g.run_id AND u.stage = g.stage
)
SELECT
    w.run,
    q.stage,
    q.metric,
    coalesce(q.rate, q.value) AS value,
    q.mean,
    q.std,
    CASE WHEN q.rate IS NULL THEN q.passes ELSE q.all_passes END AS passes,
    w.at,
    w.commit,
    w.branch,
    w.is_dirty,
    t.gpu,
    t.driver,
    s.kind AS tool,
    s.tool_version,
    q.prompt_token_count,
    q.decode_token_count,
    q.sequence_count,
    q.is_varying,
    w.host,
    w.prof_version,
    w.workload,
    w.run_id
FROM q
JOIN w ON w.run_id = q.run_id
LEFT JOIN source s ON s.run_id = q.run_id AND s.source_id = q.source_id
LEFT JOIN run_trait t ON t.run_id = q.run_id
