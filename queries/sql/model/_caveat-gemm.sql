-- _caveat-gemm: How many of a stage's matrix products match the model's layers, and why a stage or run has no figures.
-- grain: one caveat, as in the table caveat
-- key: kind, stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: as in gemm-speed
--   device BIGINT = NULL: as in gemm-speed
--   {source}
-- columns:
--   kind: what it says
--   stage: the stage
--   subject: why the stage has no figures: sequence, ambiguous, tokens or model, as in gemm_product; the run where that has no model
--   item_count: calls of matrix products that fit
--   of_count: all that count

WITH s AS (
    SELECT
        g.stage,
        arg_max(g.unknown, g.call_count) FILTER (g.unknown IN ('sequence', 'ambiguous', 'tokens', 'model')) AS unknown,
        count(g.component) AS products,
        sum(g.matched_count)::BIGINT AS matched,
        sum(g.product_count)::BIGINT AS calls
    FROM gemm_product g
    WHERE g.run_id = run
        AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR g.device_id = device)
        AND (stage IS NULL OR g.stage = stage)
    GROUP BY g.stage
)
SELECT
    CASE WHEN s.products > 0 THEN 'products-matched' ELSE 'products-unmatched' END AS kind,
    s.stage,
    CASE WHEN s.products = 0 THEN s.unknown END AS subject,
    s.matched AS item_count,
    s.calls AS of_count
FROM s
WHERE s.calls > 0
UNION ALL BY NAME
SELECT 'no-model' AS kind, r.name AS subject
FROM run r
WHERE r.run_id = run AND NOT EXISTS (SELECT 1 FROM model_size m WHERE m.run_id = run AND m.is_counted)
