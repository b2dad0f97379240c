-- input-stages v2: How long each input of prof capture --inputs took, stage by stage, under the profiler and without one, and per page.
--     Excludes warm-up passes.
-- grain: one input and stage
-- key: input, stage
-- notes: input pass throttle timelines workload launch range stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   {source}
-- columns:
--   input: id of the input; NULL for passes whose input is not known, in a run with some that are
--   stage: the stage, by stage_rule
--   passes: passes that worked on it, warm-up excluded
--   gpu_span_median_ns: median GPU span (first start to last end of device work)
--   alone_median_ns: median time of a steady execution in recordings without a profiler, by alone_clock; NULL when not measured
--   page_count: pages of the input, by the manifest; NULL when it does not say
--   gpu_span_per_page_ns: gpu_span_median_ns / pages; NULL when the pages are unknown
--   alone_per_page_ns: alone_median_ns / pages; NULL when the pages are unknown
--   token_count: tokens of all these passes, by the workload or the range names: prompts and decoded, all sequences; those of a pass that
--     several ranks worked on together count once. NULL when unknown for any pass, or when it is unknown whether ranks shared them
--   gpu_span_tokens_per_s: tokens of the median pass / gpu_span_median_ns, both within one process; NULL when a pass has no tokens or no
--     GPU span
--   alone_tokens_per_s: mean tokens of an execution without a profiler / alone_median_ns; NULL when one is not measured on the GPU
--   gpu_span_mean_ns: mean GPU span
--   gpu_span_std_ns: sample standard deviation (n-1) of the GPU span; NULL for a single pass
--   gpu_span_min_ns: shortest GPU span
--   gpu_span_max_ns: longest GPU span
--   alone_mean_ns: mean time of the executions without a profiler
--   alone_std_ns: sample standard deviation (n-1) of these; NULL for fewer than two
--   alone_count: executions without a profiler; NULL when not measured
--   alone_clock: clock of these: gpu (from the opening of the range to the end of its work on the GPU) or cpu (host clock: for work that is
--     not waited for, the time to launch it)
--   cpu_median_ns: median CPU time
--   width_count: width in pixels, by the manifest
--   height_count: height in pixels, by the manifest
--   path: where the file lies
--   sha256: SHA-256 of its content

WITH given AS (
    SELECT i.input, i.path, i.sha256, i.width_count, i.height_count, i.page_count
    FROM capture_input i
    WHERE i.run_id = run AND i.input IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY i.input ORDER BY i.source_id) = 1
), pass AS (
    SELECT
        i.input,
        s.stage,
        s.range_id,
        s.repeat_id,
        s.source_id,
        s.pid,
        s.cpu_ns,
        s.gpu_span_ns,
        s.prompt_token_count + s.decode_token_count AS tokens
    FROM _stage_pass(run, source := source) s
    LEFT JOIN pass_input i ON i.run_id = run AND i.range_id = s.range_id
    WHERE NOT s.is_warmup
        AND (stage IS NULL OR s.stage = stage)
        AND EXISTS (SELECT 1 FROM pass_input x WHERE x.run_id = run)
), said AS (
    SELECT
        p.input,
        p.stage,
        p.repeat_id,
        count(*) AS processes,
        CASE WHEN count(p.tokens) = count(*) THEN sum(p.tokens) END AS tokens,
        CASE WHEN count(p.tokens) = count(*) THEN max(p.tokens) END AS shared_tokens
    FROM (
        SELECT
            p.input,
            p.stage,
            p.repeat_id,
            p.source_id,
            p.pid,
            CASE WHEN count(p.tokens) = count(*) THEN sum(p.tokens) END AS tokens
        FROM pass p
        GROUP BY ALL
    ) p
    GROUP BY p.input, p.stage, p.repeat_id
), token AS ( -- as in stages
    SELECT
        s.input,
        s.stage,
        CASE
            WHEN max(r.process_count) = 1 OR NOT any_value(r.is_shared)
                THEN CASE WHEN count(s.tokens) = count(*) THEN sum(s.tokens) END
            WHEN any_value(r.is_shared) AND count(s.shared_tokens) = count(*) THEN sum(s.shared_tokens)
        END::BIGINT AS token_count
    FROM said s
    LEFT JOIN stage_share r
        ON r.run_id = run
        AND r.stage = s.stage
        AND r.kind = coalesce(source, (SELECT min(t.kind) FROM timeline t WHERE t.run_id = run AND t.is_counted))
    GROUP BY s.input, s.stage
), m AS (
    SELECT
        p.input,
        p.stage,
        count(*) AS passes,
        median(p.gpu_span_ns) AS gpu_span_median_ns,
        avg(p.gpu_span_ns) AS gpu_span_mean_ns,
        _std(p.gpu_span_ns) AS gpu_span_std_ns,
        min(p.gpu_span_ns) AS gpu_span_min_ns,
        max(p.gpu_span_ns) AS gpu_span_max_ns,
        median(p.cpu_ns) AS cpu_median_ns,
        CASE
            WHEN bool_and(p.tokens IS NOT NULL AND p.gpu_span_ns > 0)
                THEN _median_pass(p.tokens, p.gpu_span_ns, p.range_id) / (median(p.gpu_span_ns) / 1e9)
        END AS gpu_span_tokens_per_s
    FROM pass p
    GROUP BY p.input, p.stage
), a AS (
    SELECT
        a.input,
        a.stage,
        a.clock,
        a.alone_count,
        a.median_ns,
        a.mean_ns,
        a.std_ns,
        CASE
            WHEN a.clock = 'gpu' AND a.median_ns > 0 THEN a.token_count / a.alone_count / (a.median_ns / 1e9)
        END AS tokens_per_s
    FROM input_alone a
    WHERE a.run_id = run AND (stage IS NULL OR a.stage = stage)
), k AS (
    SELECT m.input, m.stage
    FROM m
    UNION
    SELECT a.input, a.stage
    FROM a
)
SELECT
    k.input,
    k.stage,
    coalesce(m.passes, 0) AS passes,
    m.gpu_span_median_ns,
    a.median_ns AS alone_median_ns,
    g.page_count,
    m.gpu_span_median_ns / g.page_count AS gpu_span_per_page_ns,
    a.median_ns / g.page_count AS alone_per_page_ns,
    n.token_count,
    m.gpu_span_tokens_per_s,
    a.tokens_per_s AS alone_tokens_per_s,
    m.gpu_span_mean_ns,
    m.gpu_span_std_ns,
    m.gpu_span_min_ns,
    m.gpu_span_max_ns,
    a.mean_ns AS alone_mean_ns,
    a.std_ns AS alone_std_ns,
    a.alone_count,
    a.clock AS alone_clock,
    m.cpu_median_ns,
    g.width_count,
    g.height_count,
    g.path,
    g.sha256
FROM k
LEFT JOIN m ON m.input IS NOT DISTINCT FROM k.input AND m.stage = k.stage
LEFT JOIN token n ON n.input IS NOT DISTINCT FROM k.input AND n.stage = k.stage
LEFT JOIN a ON a.input = k.input AND a.stage = k.stage
LEFT JOIN given g ON g.input = k.input
ORDER BY array_position(['prefill', 'decode'], k.stage) NULLS LAST, k.stage, k.input NULLS LAST
