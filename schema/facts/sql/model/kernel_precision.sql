-- kernel_precision: Precision of a timeline's matrix products, by kernel names: the one that nine tenths of the kernel time with a
--     precision in its name agree on. No row when none does.
-- grain: one kind of timeline
-- key: kind
-- needs: kernel
-- columns:
--   kind VARCHAR: {timelines}
--   is_counted BOOLEAN: whether that kind is the counted one
--   precision VARCHAR: fp32, tf32, bf16, fp16 or fp8

-- Names of matrix kernels tell most; a tenth of their time must tell, since a model of 16 bits has small products in single precision too,
-- such as the one of the rotary table. Else those of all kernels may, unless they are next to nothing; single precision says nothing there.
WITH whole AS (
    SELECT
        p.kind,
        sum(p.time_ns) AS time_ns,
        sum(p.time_ns) FILTER (p.is_gemm AND p.precision IS NOT NULL) AS gemm_ns,
        sum(p.time_ns) FILTER (p.precision IN ('bf16', 'fp16')) AS half_ns,
        gemm_ns >= 0.1 * sum(p.time_ns) FILTER (p.is_gemm) AS is_told
    FROM _precision_time p
    GROUP BY p.kind
)
SELECT p.kind, p.is_counted, p.precision
FROM _precision_time p JOIN whole w ON w.kind = p.kind
WHERE p.precision IS NOT NULL
GROUP BY ALL
HAVING CASE
        WHEN coalesce(any_value(w.is_told), false) THEN sum(p.time_ns) FILTER (p.is_gemm) >= 0.9 * any_value(w.gemm_ns)
        ELSE p.precision IN ('bf16', 'fp16')
            AND sum(p.time_ns) >= greatest(0.9 * any_value(w.half_ns), 0.01 * any_value(w.time_ns))
    END
