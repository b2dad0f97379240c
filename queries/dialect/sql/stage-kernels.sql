-- stage-kernels v3: Kernels of every run by the stage that launched them, as prof query stage-kernels has them of one.
-- grain: one run, stage and kernel name
-- key: run_id, stage, kernel
-- columns:
--   run: name of the run
--   run_id: run id

WITH t AS (
    SELECT
        k.run_id,
        coalesce(s.stage, '(none)') AS stage,
        k.kernel_name_id,
        CAST(sum(k.launch_count) AS BIGINT) AS calls,
        CAST(sum(k.launch_count * k.duration_ns) AS BIGINT) AS total_ns,
        min(k.duration_ns) AS min_ns,
        max(k.duration_ns) AS max_ns
    FROM kernel_duration k
    JOIN timeline c ON c.run_id = k.run_id AND c.source_id = k.source_id AND c.is_counted
    LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
    WHERE k.scope = 'measured'
    GROUP BY k.run_id, coalesce(s.stage, '(none)'), k.kernel_name_id
)
SELECT
    g.name AS run,
    t.run_id,
    t.stage,
    n.name AS kernel,
    t.calls,
    t.total_ns,
    CAST(t.total_ns AS DOUBLE) / t.calls AS mean_ns,
    t.min_ns,
    t.max_ns,
    CAST(t.total_ns AS DOUBLE) / nullif(sum(t.total_ns) OVER (PARTITION BY t.run_id, t.stage), 0) AS share_ratio,
    c.role,
    c.family
FROM t
JOIN run g ON g.run_id = t.run_id
JOIN kernel_name n ON n.run_id = t.run_id AND n.kernel_name_id = t.kernel_name_id
LEFT JOIN kernel_class c ON c.run_id = t.run_id AND c.kernel_name_id = t.kernel_name_id
