-- _trace-pass: Stage passes of one source for a trace: on the CPU, and on each GPU that runs their work.
-- grain: one pass on the CPU or on one GPU
-- key: range_id, device_id
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   device BIGINT = NULL: only this GPU and processes with work on it
--   stage VARCHAR = NULL: only this stage
--   pass BIGINT = NULL: only this pass of it
--   from_time BIGINT = NULL: only from this time of the source on
--   until_time BIGINT = NULL: only before this time of the source
-- columns:
--   device_id: GPU; NULL for the pass on the CPU
--   pid: process
--   start_ns: start of its range, or of its first work on the GPU
--   duration_ns: duration of its range, or GPU span; NULL when its range never ended
--   pass_id: pass number within the stage, source and process, from 1
--   range_id: the range
--   is_warmup: 1 when stages excludes it, else 0
--   stage: the stage, by stage_rule

SELECT q.device_id, q.pid, q.start_ns, q.duration_ns, q.pass_id, q.range_id, q.is_warmup, q.stage
FROM (
    SELECT
        NULL::BIGINT AS device_id,
        p.pid::BIGINT AS pid,
        p.start_ns,
        p.end_ns - p.start_ns AS duration_ns,
        p.pass_id,
        p.range_id,
        p.is_warmup::BIGINT AS is_warmup,
        p.stage
    FROM stage_pass p
    WHERE p.run_id = run
        AND p.source_id = of_source
        AND (
            device IS NULL
            OR EXISTS (
                SELECT 1
                FROM device_part d
                WHERE d.run_id = run AND d.range_id = p.range_id AND d.device_id = device
            )
        )
    UNION ALL
    SELECT
        d.device_id,
        d.pid,
        d.start_ns,
        d.span_ns,
        d.pass_id,
        d.range_id,
        d.is_warmup::BIGINT,
        d.stage
    FROM device_part d
    WHERE d.run_id = run
        AND d.source_id = of_source
        AND d.range_id IS NOT NULL
        AND (device IS NULL OR d.device_id = device)
) q
WHERE (stage IS NULL OR q.stage = stage)
    AND (pass IS NULL OR q.pass_id = pass)
    AND _is_shown(q.start_ns, q.start_ns + q.duration_ns, from_time, until_time)
ORDER BY q.device_id, q.pid, q.start_ns, coalesce(q.duration_ns, 9223372036854775807) DESC, q.stage, q.range_id
