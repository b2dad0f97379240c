-- _condition_precision: The number formats that a run's matrices were multiplied in, as the names of its kernels tell.
-- grain: one run
-- key: aspect
-- needs: kernel
-- columns:
--   source_id INTEGER: the source that says it; NULL when it follows from several
--   priority INTEGER: of several statements about an aspect those of the lowest number hold
--   aspect VARCHAR: what is told of
--   value VARCHAR: what is said of it; NULL when nothing is
--   weight VARCHAR: decides, clouds or tells, as in run-conditions

-- Formats of a tenth or more of the time of matrix kernels, where the names of most of it tell one: many libraries' do not (nvjet), and
-- those of other kernels say nothing of the matrices. Names are read as by _run-precision, each once: a run has few.
WITH spent AS (
    SELECT w.kernel_name_id, sum(w.sum_ns) AS ns FROM work_sum w WHERE w.run_id = $run AND w.kind = 'kernel' GROUP BY w.kernel_name_id
), told AS (
    SELECT CASE WHEN regexp_matches(n.name, 'e4m3|e5m2|fp8|float8') THEN 'fp8' WHEN contains(n.name, 'tf32') THEN 'tf32' WHEN regexp_matches(n.name, 'bf16|__nv_bfloat16|BFloat16|bfloat16') THEN 'bf16'
            WHEN regexp_matches(n.name, '__half|c10::Half|f16f16|fp16|hgemm|half_t|f16_s') THEN 'fp16' WHEN regexp_matches(n.name, 'sgemm|f32f32_f32') THEN 'fp32' END AS format, sum(k.ns) AS ns
    FROM spent k JOIN kernel_name n ON n.run_id = $run AND n.kernel_name_id = k.kernel_name_id
    JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id AND c.role = 'gemm'
    GROUP BY format
)
SELECT NULL AS source_id, 0 AS priority, 'precision of kernels' AS aspect, string_agg(t.format, ', ' ORDER BY t.format) AS value, 'decides' AS weight
FROM (SELECT t.format, t.ns, sum(t.ns) OVER () AS all_ns, sum(CASE WHEN t.format IS NOT NULL THEN t.ns END) OVER () AS told_ns FROM told t) t
WHERE t.format IS NOT NULL AND t.ns >= 0.1 * t.all_ns AND t.told_ns > 0.5 * t.all_ns
