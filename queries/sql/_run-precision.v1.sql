-- _run-precision v1: The precision that a run's matrices are multiplied in, and who says so.
-- grain: one run
-- key: none
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: model_id; by default as in _model-id
--   compute VARCHAR = NULL: the one asked for
--   dtype VARCHAR = NULL: precision of the weights asked for
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   precision: fp64, fp32, tf32, bf16, fp16, fp8, int8, fp4; NULL when nothing says
--   origin: option, configuration or kernels (nine tenths of the time of the kernels whose name tells a type of 16 bits); NULL when nothing says

WITH named AS (
    SELECT CASE WHEN regexp_matches(n.name, 'bf16|__nv_bfloat16|BFloat16|bfloat16') THEN 'bf16' WHEN regexp_matches(n.name, '__half|c10::Half|f16f16|fp16|hgemm|half_t') THEN 'fp16' END AS precision, sum(k.duration_ns) AS ns
    FROM kernel k JOIN kernel_name n ON n.run_id = k.run_id AND n.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = _run_id_v1(run) AND k.source_id IN (SELECT t.source_id FROM _timeline_v1(run, source := source) t)
    GROUP BY ALL
), said AS (
    SELECT (SELECT m.dtype FROM model m WHERE m.run_id = _run_id_v1(run) AND m.model_id = _model_id_v1(run, model)) AS configured,
        (SELECT n.precision FROM named n WHERE n.precision IS NOT NULL AND n.ns >= 0.9 * (SELECT sum(a.ns) FROM named a WHERE a.precision IS NOT NULL)) AS seen
)
SELECT coalesce(compute, dtype, s.configured, s.seen) AS precision,
    CASE WHEN compute IS NOT NULL OR dtype IS NOT NULL THEN 'option' WHEN s.configured IS NOT NULL THEN 'configuration' WHEN s.seen IS NOT NULL THEN 'kernels' END AS origin
FROM said s JOIN run r ON r.run_id = _run_id_v1(run)
