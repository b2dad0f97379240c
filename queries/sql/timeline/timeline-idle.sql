-- timeline-idle v1: Idle time of the GPUs of one source in a window of time, by the cause of the gaps that it is part of.
-- grain: one GPU and cause
-- key: device, cause
-- notes: accounting launch
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   from_time BIGINT = NULL: start of the window, from the start of the source
--   until_time BIGINT = NULL: its end
--   device BIGINT = NULL: only this GPU
-- columns:
--   device: GPU
--   cause: largest part of the gap time, as in accounting: {idle parts}
--   gap_count: gaps that lie in the window or reach into it, of the 10,000 longest of each GPU
--   total_ns: what of them lies in the window

SELECT
    g.device_id AS device,
    g.cause,
    count(*) AS gap_count,
    sum(_inside_ns(g.start_ns, g.duration_ns, from_time, until_time))::BIGINT AS total_ns
FROM _trace_gap(run, of_source := of_source, device := device, from_time := from_time, until_time := until_time) g
GROUP BY g.device_id, g.cause
ORDER BY g.device_id, total_ns DESC, g.cause
