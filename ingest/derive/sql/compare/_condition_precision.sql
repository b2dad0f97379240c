-- _condition_precision: The number formats that each run's matrices were multiplied in, as the names of its kernels tell.
-- grain: one statement about an aspect of a run
-- key: run_id, aspect
-- columns:
--   run_id UUID: the run
--   source_id INTEGER: the source that says it; NULL when it follows from several
--   priority INTEGER: of several statements about an aspect those of the lowest number hold
--   aspect VARCHAR: what is told of
--   value VARCHAR: what is said of it; NULL when nothing is
--   weight VARCHAR: decides, clouds or tells, as in run-conditions

SELECT x.run_id, x.source_id, x.priority, x.aspect, x.value, x.weight
FROM (
    -- Formats of a tenth or more of the time of matrix kernels, where the names of most of it tell one: many libraries' do not (nvjet), and
    -- those of other kernels say nothing of the matrices. Names are read as by _run-precision.
    WITH spent AS ( -- by name first: a run has few names
        SELECT w.run_id, w.kernel_name_id, sum(w.sum_ns) AS ns FROM work_sum w WHERE w.kind = 'kernel' GROUP BY w.run_id, w.kernel_name_id
    ), named AS (
        SELECT k.run_id, CASE WHEN regexp_matches(n.name, 'e4m3|e5m2|fp8|float8') THEN 'fp8' WHEN contains(n.name, 'tf32') THEN 'tf32' WHEN regexp_matches(n.name, 'bf16|__nv_bfloat16|BFloat16|bfloat16') THEN 'bf16'
                WHEN regexp_matches(n.name, '__half|c10::Half|f16f16|fp16|hgemm|half_t|f16_s') THEN 'fp16' WHEN regexp_matches(n.name, 'sgemm|f32f32_f32') THEN 'fp32' END AS precision, k.ns
        FROM spent k JOIN kernel_name n ON n.run_id = k.run_id AND n.kernel_name_id = k.kernel_name_id
        JOIN kernel_class c ON c.run_id = k.run_id AND c.kernel_name_id = k.kernel_name_id AND c.role = 'gemm'
    ), told AS (
        SELECT n.run_id, n.precision, sum(n.ns) AS ns FROM named n GROUP BY n.run_id, n.precision
    ), whole AS (
        SELECT t.run_id, sum(t.ns) AS ns, sum(t.ns) FILTER (t.precision IS NOT NULL) AS told_ns FROM told t GROUP BY t.run_id
    )
    SELECT t.run_id, NULL::INTEGER AS source_id, 0 AS priority, 'precision of kernels' AS aspect, string_agg(t.precision, ', ' ORDER BY t.precision) AS value, 'decides' AS weight
    FROM told t JOIN whole w ON w.run_id = t.run_id
    WHERE t.precision IS NOT NULL AND t.ns >= 0.1 * w.ns AND w.told_ns > 0.5 * w.ns
    GROUP BY t.run_id
) x
WHERE x.run_id = $run
