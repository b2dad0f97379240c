-- _run-precision: Precision of a run's matrix products, and its origin.
-- grain: one run
-- key: none
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: model_id; default: as in _model-id
--   compute VARCHAR = NULL: the selected precision
--   dtype VARCHAR = NULL: the selected precision of weights
--   {source}
-- columns:
--   precision: fp64, fp32, tf32, bf16, fp16, fp8, int8, fp4; NULL when unknown
--   origin: option, configuration, kernels (their names), or neither where these two disagree; NULL when unknown
--   configured: precision in the configuration; NULL without one
--   seen: precision by kernel names, see kernel_precision; NULL when they show none
--   is_disputed: whether these two disagree

WITH said AS (
    SELECT
        (
            SELECT m.dtype
            FROM model_size m
            WHERE m.run_id = run AND m.model_id = _model_id(run, model)
        ) AS configured,
        (
            SELECT k.precision
            FROM kernel_precision k
            WHERE k.run_id = run AND _is_asked(k.kind, k.is_counted, source)
        ) AS seen
), origin AS (
    SELECT
        s.configured,
        s.seen,
        coalesce(
            s.configured IN ('fp32', 'bf16', 'fp16') AND s.seen IN ('fp32', 'bf16', 'fp16') AND s.seen <> s.configured,
            false
        ) AS is_disputed,
        CASE
            WHEN compute IS NOT NULL THEN 'option'
            WHEN is_disputed THEN 'neither'
            WHEN s.configured IS NOT NULL THEN 'configuration'
            WHEN s.seen IS NOT NULL THEN 'kernels'
            WHEN dtype IS NOT NULL THEN 'option'
        END AS origin
    FROM said s
)
SELECT
    CASE o.origin
        WHEN 'option' THEN coalesce(compute, dtype)
        WHEN 'configuration' THEN o.configured
        WHEN 'kernels' THEN o.seen
    END AS precision,
    o.origin,
    o.configured,
    o.seen,
    o.is_disputed
FROM origin o
