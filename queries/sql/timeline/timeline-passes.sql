-- timeline-passes v1: The passes of stages on each GPU as they can be drawn: a pass of its own where it is long enough, else together with the short ones of its stage that begin in the same small part of the capture.
-- grain: one pass, or the short passes of one stage and process on one GPU that begin in one part of the time of the whole capture
-- key: source_id, device, stage, pid, start_ns, is_warmup, pass
-- notes: timelines workload accounting launch range
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   blocks BIGINT = 4000: parts of equal length from the first start to the last end of device work, at least 1; passes shorter than one are short
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   device: GPU
--   stage: the stage, by stage_rule
--   start_ns: start of the first device work in it, from the start of the source
--   end_ns: end of the last
--   passes: passes in it
--   pass: number of the first of them, as in pass-accounting
--   is_warmup: whether stages and accounting leave them out
--   busy_ns: sum over the passes of the time in which work of their own ran
--   launch_bound_ns: sum over the passes of the idle time in which the thread was about to launch
--   span_ns: sum of their spans
--   source_id: the source
--   pid: process

WITH whole AS (
    SELECT min(d.start_ns) AS start_ns, (max(d.end_ns) - min(d.start_ns)) // any_value(greatest(blocks, 1)) + 1 AS part_ns
    FROM device_time d
    WHERE d.run_id = run AND d.range_id IS NULL AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND (device IS NULL OR d.device_id = device)
    HAVING count(*) > 0
), p AS (
    SELECT d.device_id AS device, d.stage, d.start_ns, d.start_ns + d.span_ns AS end_ns, d.pass_id AS pass, d.is_warmup, d.compute_ns + d.collective_overlapped_ns + d.collective_exposed_ns + d.graph_ns + d.copy_ns AS busy_ns,
        d.launch_ns + d.launch_delay_ns + d.launch_latency_ns AS launch_bound_ns, d.span_ns, d.source_id, d.pid, CASE WHEN d.span_ns >= a.part_ns THEN d.range_id END AS long_id, CASE WHEN d.span_ns < a.part_ns THEN (d.start_ns - a.start_ns) // a.part_ns END AS part
    FROM device_part d CROSS JOIN whole a
    WHERE d.run_id = run AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND d.range_id IS NOT NULL AND (device IS NULL OR d.device_id = device)
)
SELECT p.device, p.stage, min(p.start_ns) AS start_ns, max(p.end_ns) AS end_ns, count(*) AS passes, min(p.pass) AS pass, p.is_warmup, sum(p.busy_ns)::BIGINT AS busy_ns, sum(p.launch_bound_ns)::BIGINT AS launch_bound_ns,
    sum(p.span_ns)::BIGINT AS span_ns, p.source_id, p.pid
FROM p
GROUP BY p.source_id, p.device, p.stage, p.pid, p.is_warmup, p.long_id, p.part
ORDER BY p.source_id, p.device, array_position(['prefill', 'decode'], p.stage) NULLS LAST, p.stage, start_ns, p.pid, p.is_warmup, pass
