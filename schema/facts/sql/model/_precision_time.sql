-- _precision_time: The time of the kernels of each kind of timeline by the number format that their names tell: bf16, sgemm, tf32, e4m3,
--     ...
-- grain: one kind of timeline, format, and whether they multiply matrices
-- key: kind, precision, is_gemm
-- needs: kernel
-- columns:
--   kind VARCHAR: {timelines}
--   is_counted BOOLEAN: whether that kind is the counted one
--   precision VARCHAR: fp8, tf32, bf16, fp16 or fp32; NULL where a name does not tell
--   is_gemm BOOLEAN: whether they multiply matrices
--   time_ns HUGEINT: their time

SELECT
    t.kind,
    t.is_counted,
    n.precision,
    coalesce(c.role = 'gemm', false) AS is_gemm,
    sum(w.sum_ns) AS time_ns
FROM ( -- by name first: a run has few names
    SELECT
        w.source_id,
        w.kernel_name_id,
        sum(w.sum_ns) AS sum_ns
    FROM work_sum w
    WHERE w.run_id = $run AND w.kind = 'kernel'
    GROUP BY w.source_id, w.kernel_name_id
) w
JOIN timeline t ON t.run_id = $run AND t.source_id = w.source_id
JOIN _name_precision n ON n.kernel_name_id = w.kernel_name_id
LEFT JOIN kernel_class c ON c.run_id = $run AND c.kernel_name_id = w.kernel_name_id
GROUP BY ALL
