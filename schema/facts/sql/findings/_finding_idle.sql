-- _finding_idle: Idle time that findings are shares of, by its parts, and what of it has a finding of its own.
-- grain: one part of one pass on one GPU, or of one source on one GPU, empty ones included
-- key: source_id, range_id, device_id, part
-- needs: device_time
-- columns:
--   kind VARCHAR: kind of the timeline
--   is_counted BOOLEAN: as in timeline
--   stage VARCHAR: the stage; NULL: all device work
--   source_id INTEGER: the source
--   range_id BIGINT: the pass; NULL likewise
--   device_id INTEGER: GPU
--   part VARCHAR: the part, as in stage_part
--   cause VARCHAR: the cause of idle time that it is of
--   ns BIGINT: its time
--   named_ns BIGINT: what of it gc-pauses, gil-wait, code-loading, allocator-calls (the first three by the longest gaps) and cpu-starved
--     are about

SELECT
    p.kind,
    p.is_counted,
    p.stage,
    p.source_id,
    p.range_id,
    p.device_id,
    s.part,
    s.kind AS cause,
    coalesce(i.ns, 0) AS ns,
    CASE s.part
        WHEN 'host' THEN p.named_host_ns
        WHEN 'launch-delay' THEN p.named_delay_ns
        WHEN 'call' THEN p.allocate_ns + p.load_ns + p.starved_call_ns
        WHEN 'wait' THEN p.starved_wait_ns
        ELSE 0
    END AS named_ns
FROM _finding_part p
JOIN stage_part s ON s.is_idle
LEFT JOIN idle_part i
    ON i.run_id = $run
    AND i.source_id = p.source_id
    AND i.device_id = p.device_id
    AND i.range_id IS NOT DISTINCT FROM p.range_id
    AND i.part = s.part
