-- timeline-passes v1: Stage passes on each GPU for charts: a long pass alone, short passes of a stage merged when they start in the same
--     small time bin of the capture.
-- grain: one pass, or the short passes of one stage and process on one GPU that start in one time bin of the capture
-- key: source_id, device, stage, pid, start_ns, is_warmup, pass
-- notes: timelines workload accounting launch range recorded
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   blocks BIGINT = 4000: time bins of equal length from the first start to the last end of device work, at least 1; passes shorter than a
--     bin are short
--   {source}
-- columns:
--   device: GPU
--   stage: the stage, by stage_rule
--   start_ns: start of its first device work, from the start of the source
--   end_ns: end of its last work
--   passes: number of passes
--   pass: number of the first pass, as in pass-accounting
--   is_warmup: whether stages and accounting exclude them
--   busy_ns: time in which the passes' own work ran, summed over the passes
--   launch_bound_ns: launch-bound idle time, summed over the passes
--   span_ns: sum of the spans of these passes
--   source_id: the source
--   pid: process

WITH whole AS (
    SELECT
        min(d.start_ns) AS start_ns,
        (max(d.end_ns) - min(d.start_ns)) // any_value(greatest(blocks, 1)) + 1 AS part_ns
    FROM device_time d
    WHERE d.run_id = run
        AND d.range_id IS NULL
        AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR d.device_id = device)
    HAVING count(*) > 0
), p AS (
    SELECT
        d.device_id AS device,
        d.stage,
        d.start_ns,
        d.start_ns + d.span_ns AS end_ns,
        d.pass_id AS pass,
        d.is_warmup,
        d.compute_ns + d.collective_overlapped_ns + d.collective_exposed_ns + d.graph_ns + d.copy_ns AS busy_ns,
        coalesce(i.launch_bound_ns, 0) AS launch_bound_ns,
        d.span_ns,
        d.source_id,
        d.pid,
        CASE WHEN d.span_ns >= a.part_ns THEN d.range_id END AS long_id,
        CASE WHEN d.span_ns < a.part_ns THEN (d.start_ns - a.start_ns) // a.part_ns END AS part
    FROM device_part d
    LEFT JOIN _idle_time(run) i ON i.source_id = d.source_id AND i.device_id = d.device_id AND i.range_id = d.range_id
    CROSS JOIN whole a
    WHERE d.run_id = run
        AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND d.range_id IS NOT NULL
        AND (device IS NULL OR d.device_id = device)
)
SELECT
    p.device,
    p.stage,
    min(p.start_ns) AS start_ns,
    max(p.end_ns) AS end_ns,
    count(*) AS passes,
    min(p.pass) AS pass,
    p.is_warmup,
    sum(p.busy_ns)::BIGINT AS busy_ns,
    sum(p.launch_bound_ns)::BIGINT AS launch_bound_ns,
    sum(p.span_ns)::BIGINT AS span_ns,
    p.source_id,
    p.pid
FROM p
GROUP BY p.source_id, p.device, p.stage, p.pid, p.is_warmup, p.long_id, p.part
ORDER BY p.source_id, p.device, array_position(['prefill', 'decode'], p.stage) NULLS LAST, p.stage, start_ns, p.pid,
    p.is_warmup, pass
