-- stages v9: Stages of every run with their times per pass, as prof query stages has them of one.
-- grain: one run and stage
-- key: run_id, stage
-- columns:
--   run: name of the run
--   run_id: run id

WITH counted AS (
    SELECT
        t.run_id,
        min(t.kind) AS kind
    FROM timeline t
    WHERE t.is_counted
    GROUP BY t.run_id
), pass AS (
    SELECT
        s.run_id,
        s.stage,
        s.repeat_id,
        s.pass_id,
        s.source_id,
        s.pid,
        s.is_warmup,
        s.prompt_token_count + s.decode_token_count AS tokens
    FROM stage_pass s
    JOIN timeline t ON t.run_id = s.run_id AND t.source_id = s.source_id AND t.is_counted
), measured AS (
    SELECT
        p.run_id,
        p.stage,
        p.device_count,
        p.cpu_ns,
        p.gpu_span_ns,
        p.gpu_busy_ns,
        p.gpu_sum_ns,
        p.kernel_sum_ns,
        p.kernel_count,
        p.memop_count,
        p.graph_count,
        p.lost_count,
        p.prompt_token_count + p.decode_token_count AS tokens,
        a.alone_ns,
        row_number() OVER (PARTITION BY p.run_id, p.stage ORDER BY p.cpu_ns NULLS LAST) AS cpu_nth,
        count(p.cpu_ns) OVER (PARTITION BY p.run_id, p.stage) AS cpu_count,
        row_number() OVER (PARTITION BY p.run_id, p.stage ORDER BY p.gpu_span_ns NULLS LAST, p.range_id) AS span_nth,
        count(p.gpu_span_ns) OVER (PARTITION BY p.run_id, p.stage) AS span_count,
        row_number() OVER (PARTITION BY p.run_id, p.stage ORDER BY a.alone_ns NULLS LAST, p.range_id) AS alone_nth,
        count(a.alone_ns) OVER (PARTITION BY p.run_id, p.stage) AS alone_count
    FROM (
    {{wholePass}}    ) p
    LEFT JOIN pass_alone a ON a.run_id = p.run_id AND a.range_id = p.range_id
), said AS (
    SELECT
        p.run_id,
        p.stage,
        p.repeat_id,
        count(*) AS processes,
        CASE WHEN count(p.tokens) = count(*) THEN sum(p.tokens) END AS tokens,
        CASE WHEN count(p.tokens) = count(*) THEN max(p.tokens) END AS shared_tokens
    FROM (
        SELECT
            m.run_id,
            m.stage,
            m.repeat_id,
            m.source_id,
            m.pid,
            CASE WHEN count(m.tokens) = count(*) THEN CAST(sum(m.tokens) AS BIGINT) END AS tokens
        FROM pass m
        WHERE NOT m.is_warmup
        GROUP BY m.run_id, m.stage, m.repeat_id, m.source_id, m.pid
    ) p
    GROUP BY p.run_id, p.stage, p.repeat_id
), token AS ( -- of ranks that share passes, one may have fewer that are not cold
    SELECT
        s.run_id,
        s.stage,
        CAST(
            CASE
                WHEN max(s.processes) = 1 OR NOT bool_or(r.is_shared)
                    THEN CASE WHEN count(s.tokens) = count(*) THEN sum(s.tokens) END
                WHEN bool_or(r.is_shared) AND count(s.shared_tokens) = count(*) THEN sum(s.shared_tokens)
            END AS BIGINT
        ) AS token_count
    FROM said s
    LEFT JOIN counted c ON c.run_id = s.run_id
    LEFT JOIN stage_share r ON r.run_id = s.run_id AND r.stage = s.stage AND r.kind = c.kind
    GROUP BY s.run_id, s.stage
), stage AS (
    SELECT
        p.run_id,
        p.stage,
        count(CASE WHEN p.is_warmup THEN 1 END) AS warmup_passes
    FROM (SELECT DISTINCT x.run_id, x.stage, x.repeat_id, x.pass_id, x.is_warmup FROM pass x) p
    GROUP BY p.run_id, p.stage
    UNION ALL -- timed, in a run without a timeline
    SELECT o.run_id, o.stage, 0
    FROM stage_overhead o
    LEFT JOIN (SELECT DISTINCT t.run_id FROM timeline t) x ON x.run_id = o.run_id
    WHERE o.tool = 'none' AND x.run_id IS NULL
), m AS (
    SELECT
        p.run_id,
        p.stage,
        count(*) AS passes,
        max(p.device_count) AS most_devices,
        {{mean "p.cpu_ns"}} AS cpu_mean_ns,
        {{mean "p.gpu_span_ns"}} AS gpu_span_mean_ns,
        {{mean "p.gpu_busy_ns"}} AS gpu_busy_mean_ns,
        {{mean "p.gpu_sum_ns"}} AS gpu_sum_mean_ns,
        CASE WHEN sum(p.graph_count) = 0 THEN CAST(sum(p.kernel_count) AS BIGINT) END AS kernel_count,
        {{median "p.cpu_ns" "p.cpu_nth" "p.cpu_count"}} AS cpu_median_ns,
        {{median "p.gpu_span_ns" "p.span_nth" "p.span_count"}} AS gpu_span_median_ns,
        count(p.cpu_ns) AS cpu_n,
        sum(p.cpu_ns) AS cpu_total,
        {{squares "p.cpu_ns"}} AS cpu_squares,
        min(p.cpu_ns) AS cpu_min_ns,
        max(p.cpu_ns) AS cpu_max_ns,
        count(p.gpu_span_ns) AS gpu_span_n,
        sum(p.gpu_span_ns) AS gpu_span_total,
        {{squares "p.gpu_span_ns"}} AS gpu_span_squares,
        min(p.gpu_span_ns) AS gpu_span_min_ns,
        max(p.gpu_span_ns) AS gpu_span_max_ns,
        count(p.gpu_busy_ns) AS gpu_busy_n,
        sum(p.gpu_busy_ns) AS gpu_busy_total,
        {{squares "p.gpu_busy_ns"}} AS gpu_busy_squares,
        count(p.gpu_sum_ns) AS gpu_sum_n,
        sum(p.gpu_sum_ns) AS gpu_sum_total,
        {{squares "p.gpu_sum_ns"}} AS gpu_sum_squares,
        {{mean "p.kernel_sum_ns"}} AS kernel_sum_mean_ns,
        {{middle "p.gpu_busy_ns" "p.span_nth" "p.span_count"}} AS gpu_busy_median_ns,
        CAST(sum(p.memop_count) AS BIGINT) AS memop_count,
        CAST(sum(p.graph_count) AS BIGINT) AS graph_count,
        CASE
            WHEN bool_and(CASE WHEN p.lost_count = 0 THEN p.tokens IS NOT NULL AND p.gpu_span_ns > 0 END)
                THEN {{middle "p.tokens" "p.span_nth" "p.span_count"}}
        END AS median_tokens,
        count(CASE WHEN p.lost_count = 0 THEN 1 END) AS known_pass_count,
        CASE
            WHEN bool_and(p.tokens IS NOT NULL AND p.alone_ns > 0)
                THEN {{middle "p.tokens" "p.alone_nth" "p.alone_count"}}
        END AS alone_tokens
    FROM measured p
    GROUP BY p.run_id, p.stage
)
SELECT
    g.name AS run,
    s.run_id,
    s.stage,
    coalesce(m.passes, 0) AS passes,
    m.cpu_mean_ns,
    m.gpu_span_mean_ns,
    m.gpu_busy_mean_ns,
    m.gpu_sum_mean_ns,
    CASE WHEN m.stage IS NULL THEN 0 ELSE m.kernel_count END AS kernel_count,
    o.alone_median_ns,
    o.overhead_ratio AS over_alone_ratio,
    m.cpu_median_ns,
    m.gpu_span_median_ns,
    {{std "m.cpu_n" "m.cpu_total" "m.cpu_squares"}} AS cpu_std_ns,
    m.cpu_min_ns,
    m.cpu_max_ns,
    {{std "m.gpu_span_n" "m.gpu_span_total" "m.gpu_span_squares"}} AS gpu_span_std_ns,
    m.gpu_span_min_ns,
    m.gpu_span_max_ns,
    {{std "m.gpu_busy_n" "m.gpu_busy_total" "m.gpu_busy_squares"}} AS gpu_busy_std_ns,
    {{std "m.gpu_sum_n" "m.gpu_sum_total" "m.gpu_sum_squares"}} AS gpu_sum_std_ns,
    m.kernel_sum_mean_ns,
    CASE WHEN m.most_devices <= 1 THEN m.gpu_busy_median_ns / nullif(m.gpu_span_median_ns, 0) END AS busy_ratio,
    CASE WHEN m.stage IS NULL THEN 0 ELSE m.memop_count END AS memop_count,
    CASE WHEN m.stage IS NULL THEN 0 ELSE m.graph_count END AS graph_count,
    s.warmup_passes,
    k.token_count,
    CASE WHEN o.alone_median_ns IS NOT NULL THEN o.clock END AS alone_clock,
    CASE WHEN o.clock = 'gpu' THEN m.alone_tokens / (o.alone_median_ns / 1E9) END AS alone_tokens_per_s,
    m.median_tokens / (m.gpu_span_median_ns / 1E9) AS gpu_span_tokens_per_s,
    coalesce(m.known_pass_count, 0) AS known_pass_count
FROM stage s
JOIN run g ON g.run_id = s.run_id
LEFT JOIN m ON m.run_id = s.run_id AND m.stage = s.stage
LEFT JOIN token k ON k.run_id = s.run_id AND k.stage = s.stage
LEFT JOIN counted c ON c.run_id = s.run_id
LEFT JOIN stage_overhead o ON o.run_id = s.run_id AND o.stage = s.stage AND o.tool = coalesce(c.kind, 'none') AND o.is_shown
