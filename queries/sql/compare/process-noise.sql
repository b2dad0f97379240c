-- process-noise v1: How long the stages of each process took that ran on the machine of a run: repeats of a workload, under a profiler or
--     without one. What those of one workload differ in is noise.
-- grain: one stage of a process
-- key: run_id, tool, repeat, stage
-- notes: capture
-- params:
--   run VARCHAR: the run that sets the machine
-- columns:
--   run: name of the run
--   run_id: run id
--   tool: none for recordings without a profiler, else profiled
--   repeat: the repeat of the workload; of recordings without a profiler their number
--   stage: the stage, by stage_rule
--   passes: passes that are no warm-up
--   time_ns: median GPU span of these (first start to last end of device work); without a profiler the median of what prof's helper timed
--   busy_ns: median GPU busy time; NULL without a profiler
--   kernel_count: median number of kernels; NULL without a profiler, and where graphs were traced as a whole

-- The latest hundred runs are enough. One repeat alone differs from nothing.
WITH used AS MATERIALIZED (
    SELECT
        t.run_id,
        r.name AS run
    FROM run_trait t JOIN run r ON r.run_id = t.run_id
    WHERE t.machine = (SELECT x.machine FROM run_trait x WHERE x.run_id = run)
    ORDER BY t.run_id DESC
    LIMIT 100
), took AS (
    SELECT
        p.run_id,
        'profiled' AS tool,
        p.repeat_id::BIGINT AS repeat,
        p.stage,
        count(*) AS passes,
        median(p.gpu_span_ns)::DOUBLE AS time_ns,
        median(p.gpu_busy_ns)::DOUBLE AS busy_ns,
        CASE WHEN sum(p.graph_count) = 0 THEN median(p.kernel_count)::DOUBLE END AS kernel_count
    FROM stage_pass p
    WHERE p.run_id IN (SELECT u.run_id FROM used u)
        AND p.is_counted
        AND NOT p.is_warmup
        AND p.gpu_span_ns > 0
        AND p.lost_count = 0
    GROUP BY p.run_id, p.repeat_id, p.stage
    UNION ALL
    SELECT
        e.run_id,
        'none',
        e.pass_id::BIGINT,
        s.stage,
        count(*),
        median(coalesce(e.gpu_ns, e.cpu_ns))::DOUBLE,
        NULL,
        NULL
    FROM stage_execution e
    JOIN capture_pass p ON p.run_id = e.run_id AND p.pass_id = e.pass_id AND p.status = 'ok' AND p.tool = 'none'
    JOIN (
        SELECT
            r.run_id,
            r.path,
            min(r.path_id) AS path_id
        FROM range_path r
        WHERE r.domain = ''
        GROUP BY r.run_id, r.path
    ) r ON r.run_id = e.run_id AND r.path = e.path
    JOIN path_stage s ON s.run_id = e.run_id AND s.path_id = r.path_id AND s.stage_path_id = s.path_id
    WHERE e.run_id IN (SELECT u.run_id FROM used u)
        AND NOT e.is_warmup
        AND NOT s.is_warmup
        AND coalesce(e.gpu_ns, e.cpu_ns) > 0
    GROUP BY e.run_id, e.pass_id, s.stage
)
SELECT
    u.run,
    u.run_id::VARCHAR AS run_id,
    t.tool,
    t.repeat,
    t.stage,
    t.passes,
    t.time_ns,
    t.busy_ns,
    t.kernel_count
FROM used u JOIN took t ON t.run_id = u.run_id
QUALIFY count(*) OVER (PARTITION BY u.run_id, t.tool, t.stage) > 1
ORDER BY u.run_id, t.tool, t.stage, t.repeat
