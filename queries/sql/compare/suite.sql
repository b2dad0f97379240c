-- suite v3: The runs of a suite (prof capture --suite) side by side: the latest of each entry, stage by stage.
-- grain: one run and stage
-- key: run_id, stage
-- params:
--   suite VARCHAR = NULL: name of the suite; NULL: the suite of the latest run that has one
--   stage VARCHAR = NULL: only this stage
-- columns:
--   entry: name of the run within the suite
--   stage: the stage, by stage_rule; NULL for a run without stages
--   gpu_span_median_ns: median GPU span of its passes, warm-up excluded; NULL without device work
--   alone_median_ns: median time of a steady execution in recordings without a profiler; NULL when not measured on the GPU
--   gpu_span_tokens_per_s: tokens of the median pass / gpu_span_median_ns; NULL when a pass has no tokens or no GPU span
--   alone_tokens_per_s: tokens of the median execution without a profiler / alone_median_ns; NULL when one is not measured
--   mfu_ratio: MFU of the median pass, by its GPU span, at today's peaks; NULL when unknown
--   overhead_ratio: by how much the stage takes longer under the profiler, as in overhead; NULL when not measured
--   status: ok, partial, failed or running (prof was killed); NULL when unknown
--   tags: its tags as key=value that not all of these runs have
--   passes: its passes, warm-up excluded
--   mbu_ratio: MBU of the median pass, by its GPU span, at today's peaks; NULL when unknown
--   reason: why the status is not ok
--   at: start of its capture, UTC; of its ingest when unknown
--   run: run name
--   run_id: run id

WITH r AS (
    SELECT x.run_id, x.run, x.entry, x.at, x.status, x.reason
    FROM _suite_run(suite := suite) x
    WHERE x.is_latest
), t AS (
    SELECT
        t.run_id,
        string_agg(t.key || '=' || t.value, ' ' ORDER BY t.key) AS tags
    FROM run_tag t JOIN r ON r.run_id = t.run_id
    WHERE t.key <> 'entry'
        AND (
            SELECT count(*)
            FROM run_tag y
            WHERE y.key = t.key AND y.value = t.value AND y.run_id IN (SELECT r.run_id FROM r)
        ) < (SELECT count(*) FROM r)
    GROUP BY t.run_id
), m AS (
    SELECT
        p.run_id,
        p.stage,
        count(*) AS passes,
        median(p.gpu_span_ns) AS gpu_span_median_ns,
        CASE
            WHEN bool_and(p.tokens IS NOT NULL AND p.gpu_span_ns > 0)
                THEN _median_pass(p.tokens, p.gpu_span_ns, p.range_id) / (median(p.gpu_span_ns) / 1e9)
        END AS gpu_span_tokens_per_s,
        CASE
            WHEN bool_and(p.tokens IS NOT NULL AND p.alone_ns > 0)
                THEN _median_pass(p.tokens, p.alone_ns, p.range_id)
        END AS alone_tokens
    FROM (
        SELECT
            s.run_id,
            s.stage,
            s.range_id,
            s.gpu_span_ns,
            s.prompt_token_count + s.decode_token_count AS tokens,
            a.alone_ns
        FROM _whole_pass(runs := (SELECT list(r.run_id) FROM r)) s
        LEFT JOIN pass_alone a ON a.run_id = s.run_id AND a.range_id = s.range_id
        WHERE stage IS NULL OR s.stage = stage
    ) p
    GROUP BY p.run_id, p.stage
), o AS (
    SELECT
        o.run_id,
        o.stage,
        o.clock,
        o.alone_median_ns,
        o.overhead_ratio
    FROM stage_overhead o
    WHERE o.run_id IN (SELECT r.run_id FROM r)
        AND o.is_shown
        AND o.tool = coalesce((SELECT min(x.kind) FROM timeline x WHERE x.run_id = o.run_id AND x.is_counted), 'none')
        AND (stage IS NULL OR o.stage = stage)
), k AS (
    SELECT m.run_id, m.stage
    FROM m
    UNION
    SELECT o.run_id, o.stage
    FROM o
)
SELECT
    r.entry,
    k.stage,
    m.gpu_span_median_ns,
    CASE WHEN o.clock = 'gpu' THEN o.alone_median_ns END AS alone_median_ns,
    m.gpu_span_tokens_per_s,
    CASE WHEN o.clock = 'gpu' THEN m.alone_tokens / (o.alone_median_ns / 1e9) END AS alone_tokens_per_s,
    u.mfu_ratio,
    o.overhead_ratio,
    r.status,
    t.tags,
    coalesce(m.passes, 0) AS passes,
    u.mbu_ratio,
    r.reason,
    r.at,
    r.run,
    r.run_id::VARCHAR AS run_id
FROM r
LEFT JOIN k ON k.run_id = r.run_id
LEFT JOIN m ON m.run_id = k.run_id AND m.stage = k.stage
LEFT JOIN o ON o.run_id = k.run_id AND o.stage = k.stage
LEFT JOIN _stage_ratio u ON u.run_id = k.run_id AND u.stage = k.stage
LEFT JOIN t ON t.run_id = r.run_id
WHERE stage IS NULL OR k.stage IS NOT NULL
ORDER BY r.at, r.run_id, array_position(['prefill', 'decode'], k.stage) NULLS LAST, k.stage
