-- run-noise v2: Stage times of equivalent runs: same workload, inputs, clean commit, software, machine and capture method. Their
--     differences are noise.
-- grain: one stage of a run, or of a repeat of the workload within a run
-- key: run_id, repeat, stage
-- notes: capture
-- params:
--   run VARCHAR: the run that sets workload and machine
--   stage VARCHAR = NULL: only this stage
-- columns:
--   group_name: what the runs share besides workload and machine, the commit first; compare values within one group only
--   run: name of the run
--   run_id: run id
--   repeat: repeat of the workload within the run, from 1
--   stage: the stage; NULL for all device work of a source, in runs without stage passes
--   passes: measured passes, or sources
--   gpu_span_ns: median GPU span of these (first start to last end of device work); NULL without device work
--   gpu_busy_ns: median GPU busy time (union of device intervals); NULL without device work
--   gpu_sum_ns: median sum of device work durations; NULL without device work, and for all device work of a source
--   cpu_ns: median CPU time
--   interval_ns: median of CPU start time to that of the next pass, where that follows directly; NULL without such passes

-- Of runs that hold the same capture the first one counts. A group has two rows of a stage or more: one alone differs from nothing.
WITH used AS (
    SELECT n.run_id, n.run, n.group_name
    FROM _noise_run(run) n
    WHERE n.sha256 IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY n.sha256 ORDER BY n.run_id) = 1
), took AS (
    SELECT p.run_id, p.repeat_id, p.stage, p.gpu_span_ns, p.gpu_busy_ns, p.gpu_sum_ns, p.cpu_ns, p.interval_ns
    FROM stage_pass p
    WHERE p.is_counted AND NOT p.is_warmup AND (stage IS NULL OR p.stage = stage)
    UNION ALL
    SELECT
        d.run_id,
        coalesce(any_value(c.repeat_id), 1),
        NULL,
        max(d.end_ns) - min(d.start_ns),
        sum(d.kernel_ns + d.graph_ns + d.copy_ns)::BIGINT,
        NULL,
        NULL,
        NULL
    FROM device_time d
    LEFT JOIN capture_source o ON o.run_id = d.run_id AND o.captured_source_id = d.source_id
    LEFT JOIN capture_pass c ON c.run_id = o.run_id AND c.pass_id = o.pass_id
    WHERE d.range_id IS NULL
        AND stage IS NULL
        AND d.run_id NOT IN (SELECT y.run_id FROM stage_pass y WHERE y.is_counted)
    GROUP BY d.run_id, d.source_id
), spent AS (
    SELECT
        u.group_name,
        u.run,
        u.run_id,
        t.repeat_id AS repeat,
        t.stage,
        count(*) AS passes,
        median(t.gpu_span_ns) AS gpu_span_ns,
        median(t.gpu_busy_ns) AS gpu_busy_ns,
        median(t.gpu_sum_ns) AS gpu_sum_ns,
        median(t.cpu_ns) AS cpu_ns,
        median(t.interval_ns) AS interval_ns
    FROM used u JOIN took t ON t.run_id = u.run_id
    GROUP BY u.group_name, u.run, u.run_id, t.repeat_id, t.stage
)
SELECT
    s.group_name,
    s.run,
    s.run_id::VARCHAR AS run_id,
    s.repeat,
    s.stage,
    s.passes,
    s.gpu_span_ns,
    s.gpu_busy_ns,
    s.gpu_sum_ns,
    s.cpu_ns,
    s.interval_ns
FROM spent s
QUALIFY count(*) OVER (PARTITION BY s.group_name, s.stage) > 1
ORDER BY s.group_name, s.stage, s.run_id, s.repeat
