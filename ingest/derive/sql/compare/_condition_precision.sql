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
-- those of other kernels say nothing of the matrices.
SELECT NULL AS source_id, 0 AS priority, 'precision of kernels' AS aspect, string_agg(t.precision, ', ' ORDER BY t.precision) AS value, 'decides' AS weight
FROM (SELECT p.precision, sum(p.time_ns) AS ns, sum(sum(p.time_ns)) OVER () AS all_ns, sum(CASE WHEN p.precision IS NOT NULL THEN sum(p.time_ns) END) OVER () AS told_ns FROM _precision_time p WHERE p.is_gemm GROUP BY p.precision) t
WHERE t.precision IS NOT NULL AND t.ns >= 0.1 * t.all_ns AND t.told_ns > 0.5 * t.all_ns
