-- aggregates v5: Headline figures of a run: time, tokens and tokens per second of each stage, and the times that the workload measured
--     itself. Unknown figures have no row.
-- grain: one metric
-- key: metric, stage
-- notes: pass throttle timelines workload launch range stage
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only passes with work on it; figures measured by the workload always cover all GPUs
--   {source}
-- columns:
--   metric: per stage STAGE_ns (GPU span of a pass), STAGE_tokens (tokens of a pass, prompts and decoded, all sequences) and
--     STAGE_tokens_per_s (both within one process; time between passes excluded); decode_ns_per_token (time per output token of a
--     sequence); STAGE_alone_ns, STAGE_alone_tokens_per_s and decode_alone_ns_per_token (the same without a profiler, where every pass has
--     a time: the figures to quote); workload_prefill_ns, workload_decode_ns and workload_vision_ns (wall time measured by the workload,
--     over the passes that it lists and does not mark as warm-up)
--   stage: the stage, by stage_rule, warm-up passes excluded; vision: the vision part of the prefill
--   unit: ns, count or tokens_per_s
--   value: the figure to quote: of the median pass, as in stages: the median, and for tokens_per_s the tokens of that pass / its time
--   mean: mean over the passes; for tokens_per_s all their tokens / all their time
--   std: sample standard deviation (n-1) over the passes; NULL for a single one
--   min: least in one pass
--   max: most in one pass
--   median: median of the passes
--   passes: passes with the figure; tokens and rates need it for every pass of the stage
--   basis: alone (recordings without a profiler, from the opening of the range to the end of its work on the GPU), gpu_span (device work in
--     the timeline) or workload

-- Long: each figure says which passes, files and ranks it is made of.
WITH pass AS (
    SELECT
        p.stage,
        p.range_id,
        nullif(p.gpu_span_ns, 0) AS time_ns,
        p.gpu_span_ns,
        p.prompt_token_count + p.decode_token_count AS tokens,
        CASE WHEN p.stage = 'decode' THEN p.decode_token_count / nullif(p.decode_count, 0) END AS outputs,
        CASE WHEN device IS NULL THEN nullif(a.alone_ns, 0) END AS alone_ns
    FROM _whole_pass(runs := [run::UUID], device := device, source := source) p
    LEFT JOIN pass_alone a ON a.run_id = run AND a.range_id = p.range_id
), known AS (
    SELECT
        p.stage,
        count(p.tokens) = count(*) AS has_tokens,
        count(p.tokens + p.time_ns) = count(*) AS has_rate,
        count(p.time_ns / nullif(p.outputs, 0)) = count(*) AS has_outputs,
        count(p.alone_ns) = count(*) AS is_alone
    FROM pass p
    GROUP BY p.stage
), timed AS ( -- files whose times are of this timeline
    SELECT DISTINCT
        w.source_id,
        n.value AS node
    FROM workload_pass w
    JOIN workload f ON f.run_id = w.run_id AND f.source_id = w.source_id
    LEFT JOIN source_fact n ON n.run_id = w.run_id AND n.source_id = w.source_id AND n.key = 'job.node'
    WHERE w.run_id = run
        AND coalesce(w.prefill_ns, w.decode_ns, w.vision_ns) IS NOT NULL
        AND w.pass_id IS NOT NULL
        AND (
            f.capture IS NULL
            OR f.capture = coalesce(source, (SELECT min(t.kind) FROM timeline t WHERE t.run_id = run AND t.is_counted))
        )
), told AS ( -- the latest of each node of a job, and of the whole
    SELECT t.source_id
    FROM timed t
    WHERE NOT EXISTS (SELECT 1 FROM timed x WHERE x.source_id > t.source_id AND coalesce(x.node = t.node, true))
), figure AS ( -- whole numbers and rates apart, since sums of whole numbers are exact
    SELECT
        'gpu_span' AS basis,
        p.stage,
        p.range_id,
        p.tokens,
        p.time_ns,
        unnest([
            {'place': 1, 'metric': '_ns', 'unit': 'ns', 'whole': p.gpu_span_ns, 'rate': NULL::DOUBLE},
            {
                'place': 2,
                'metric': '_tokens',
                'unit': 'count',
                'whole': CASE WHEN k.has_tokens THEN p.tokens END,
                'rate': NULL
            },
            {
                'place': 3,
                'metric': '_tokens_per_s',
                'unit': 'tokens_per_s',
                'whole': NULL,
                'rate': CASE WHEN k.has_rate THEN p.tokens / (p.time_ns / 1e9) END
            },
            {
                'place': 4,
                'metric': '_ns_per_token',
                'unit': 'ns',
                'whole': NULL,
                'rate': CASE WHEN k.has_outputs THEN p.time_ns / p.outputs END
            }
        ]) AS f
    FROM pass p JOIN known k ON k.stage = p.stage
    UNION ALL
    SELECT
        'alone',
        p.stage,
        p.range_id,
        p.tokens,
        p.alone_ns,
        unnest([
            {'place': 1, 'metric': '_alone_ns', 'unit': 'ns', 'whole': NULL::BIGINT, 'rate': p.alone_ns},
            {
                'place': 3,
                'metric': '_alone_tokens_per_s',
                'unit': 'tokens_per_s',
                'whole': NULL,
                'rate': CASE WHEN k.has_rate THEN p.tokens / (p.alone_ns / 1e9) END
            },
            {
                'place': 4,
                'metric': '_alone_ns_per_token',
                'unit': 'ns',
                'whole': NULL,
                'rate': CASE WHEN k.has_outputs THEN p.alone_ns / p.outputs END
            }
        ])
    FROM pass p JOIN known k ON k.stage = p.stage AND k.is_alone
    UNION ALL
    SELECT
        'workload',
        x.stage,
        NULL,
        NULL,
        NULL,
        {'place': 5, 'metric': '_ns', 'unit': 'ns', 'whole': x.time_ns, 'rate': NULL::DOUBLE}
    FROM (
        SELECT
            unnest(['prefill', 'decode', 'vision']) AS stage,
            unnest([w.prefill_ns, w.decode_ns, w.vision_ns]) AS time_ns
        FROM workload_pass w
        WHERE w.run_id = run
            AND w.source_id IN (SELECT t.source_id FROM told t)
            AND w.pass_id IS NOT NULL
            AND NOT w.is_warmup
    ) x
), a AS (
    SELECT
        f.basis,
        f.stage,
        f.f.place AS place,
        f.f.metric AS metric,
        f.f.unit AS unit,
        count(f.f.whole) + count(f.f.rate) AS passes,
        CASE
            WHEN f.f.unit = 'tokens_per_s' AND count(f.f.rate) > 0 THEN sum(f.tokens) / (sum(f.time_ns) / 1e9)
            ELSE coalesce(avg(f.f.whole), _mean(f.f.rate))
        END AS mean,
        coalesce(
            _std(f.f.whole),
            CASE WHEN count(f.f.rate) > 1 THEN list_stddev_samp(list(f.f.rate ORDER BY f.f.rate)) END
        ) AS std,
        coalesce(min(f.f.whole)::DOUBLE, min(f.f.rate)) AS min,
        coalesce(max(f.f.whole)::DOUBLE, max(f.f.rate)) AS max,
        coalesce(median(f.f.whole), median(f.f.rate)) AS median,
        _median_pass(f.tokens, f.time_ns, f.range_id) / (median(f.time_ns) / 1e9) AS token_rate
    FROM figure f
    GROUP BY f.basis, f.stage, f.f.place, f.f.metric, f.f.unit
)
SELECT
    CASE a.basis WHEN 'workload' THEN 'workload_' ELSE '' END || a.stage || a.metric AS metric,
    a.stage,
    a.unit,
    CASE WHEN a.metric LIKE '%\_tokens\_per\_s' ESCAPE '\' THEN a.token_rate ELSE a.median END AS value,
    a.mean,
    a.std,
    a.min,
    a.max,
    a.median,
    a.passes,
    a.basis
FROM a
WHERE a.passes > 0
ORDER BY a.basis, coalesce(array_position(['prefill', 'decode', 'vision'], a.stage), 4), a.stage, a.place
