-- _condition_precision: The number formats that a run's matrices were multiplied in, as the names of its kernels tell.
-- grain: one run
-- key: aspect
-- needs: kernel
-- columns:
--   source_id INTEGER: the source that says it; NULL when it follows from several
--   priority INTEGER: of several statements about an aspect those of the lowest number hold
--   aspect VARCHAR: what it is about
--   value VARCHAR: what is said of it; NULL when nothing is
--   weight VARCHAR: decides, clouds or tells, as in run-conditions

-- Formats of a tenth or more of the time of matrix kernels, where the names of most of it tell one: many libraries' do not (nvjet), and
-- those of other kernels say nothing of the matrices.
WITH told AS (
    SELECT
        p.precision,
        sum(p.time_ns) AS ns
    FROM _precision_time p
    WHERE p.is_gemm
    GROUP BY p.precision
)
SELECT
    NULL AS source_id,
    0 AS priority,
    'precision of kernels' AS aspect,
    string_agg(t.precision, ', ' ORDER BY t.precision) AS value,
    'decides' AS weight
FROM told t
CROSS JOIN (
    SELECT
        sum(t.ns) AS all_ns,
        sum(t.ns) FILTER (t.precision IS NOT NULL) AS told_ns
    FROM told t
) w
WHERE t.precision IS NOT NULL AND t.ns >= 0.1 * w.all_ns AND w.told_ns > 0.5 * w.all_ns
