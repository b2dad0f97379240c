-- _run-precision: The precision that a run's matrices are multiplied in, and who says so.
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
--   origin: option, configuration, kernels (their names), or neither where these two say different things; NULL when nothing says
--   configured: what the configuration says; NULL when nothing
--   seen: what nine tenths of the time of the kernels say whose name tells a type; NULL when they do not

-- Names of matrix kernels tell most: bf16, sgemm, tf32, e4m3; a tenth of their time must tell, since a model of 16 bits has small
-- products in single precision too, such as the one of the rotary table. Else those of all kernels may, unless they are next to
-- nothing; single precision says nothing there.
WITH spent AS ( -- by name first: a run has millions of kernels of a hundred names
    SELECT k.kernel_name_id, sum(k.duration_ns) AS ns FROM kernel k
    WHERE k.run_id = run AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    GROUP BY k.kernel_name_id
), named AS (
    SELECT CASE WHEN regexp_matches(n.name, 'e4m3|e5m2|fp8|float8') THEN 'fp8' WHEN contains(n.name, 'tf32') THEN 'tf32' WHEN regexp_matches(n.name, 'bf16|__nv_bfloat16|BFloat16|bfloat16') THEN 'bf16'
            WHEN regexp_matches(n.name, '__half|c10::Half|f16f16|fp16|hgemm|half_t|f16_s') THEN 'fp16' WHEN regexp_matches(n.name, 'sgemm|f32f32_f32') THEN 'fp32' END AS precision, coalesce(c.role = 'gemm', false) AS is_gemm, sum(k.ns) AS ns
    FROM spent k JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = k.kernel_name_id
    LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = k.kernel_name_id
    GROUP BY ALL
), gemm AS (
    SELECT n.precision, n.ns FROM named n WHERE n.is_gemm AND n.precision IS NOT NULL AND (SELECT sum(x.ns) FILTER (x.precision IS NOT NULL) >= 0.1 * sum(x.ns) FROM named x WHERE x.is_gemm)
), any16 AS (
    SELECT n.precision, sum(n.ns) AS ns FROM named n WHERE n.precision IN ('bf16', 'fp16') AND NOT EXISTS (SELECT 1 FROM gemm) GROUP BY ALL
), said AS (
    SELECT (SELECT m.dtype FROM model m WHERE m.run_id = run AND m.model_id = _model_id(run, model)) AS configured,
        coalesce((SELECT g.precision FROM gemm g WHERE g.ns >= 0.9 * (SELECT sum(x.ns) FROM gemm x)),
            (SELECT a.precision FROM any16 a WHERE a.ns >= 0.9 * (SELECT sum(x.ns) FROM any16 x) AND a.ns >= 0.01 * (SELECT sum(x.ns) FROM named x))) AS seen
), origin AS (
    SELECT s.configured, s.seen, CASE WHEN compute IS NOT NULL THEN 'option' WHEN s.configured IN ('fp32', 'bf16', 'fp16') AND s.seen IN ('fp32', 'bf16', 'fp16') AND s.seen <> s.configured THEN 'neither'
        WHEN s.configured IS NOT NULL THEN 'configuration' WHEN s.seen IS NOT NULL THEN 'kernels' WHEN dtype IS NOT NULL THEN 'option' END AS origin
    FROM said s
)
SELECT CASE o.origin WHEN 'option' THEN coalesce(compute, dtype) WHEN 'configuration' THEN o.configured WHEN 'kernels' THEN o.seen END AS precision, o.origin, o.configured, o.seen
FROM origin o JOIN run r ON r.run_id = run
