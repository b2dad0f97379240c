-- _trace-gap: The idle times of the GPUs of one source that are stored, the 10,000 longest of each GPU, for a trace.
-- grain: one idle gap
-- key: device_id, start_ns
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   from_time BIGINT = NULL: only from this time of the source on
--   until_time BIGINT = NULL: only before this time of the source
--   device BIGINT = NULL: only this GPU
--   stage VARCHAR = NULL: only gaps before work of this stage; (none) for gaps before work outside every stage or without a captured launch
-- columns:
--   device_id: GPU
--   start_ns: end of the work before
--   duration_ns: to the start of the work after
--   path_id: path of the ranges that launched the work after; NULL when the launch was not captured
--   cause: largest part of the gap time, as in accounting
--   before: work that ended last before the gap: kernel, copy, fill or graph replay
--   after: work that started at its end: kernel, copy, fill or graph replay

SELECT
    g.device_id::BIGINT AS device_id,
    g.start_ns,
    g.duration_ns,
    g.path_id,
    g.part AS cause,
    coalesce(b.name, g.before_operation) AS before,
    coalesce(a.name, g.after_operation) AS after
FROM gap g
LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = g.path_id
LEFT JOIN kernel_name b ON b.run_id = run AND b.kernel_name_id = g.before_kernel_name_id
LEFT JOIN kernel_name a ON a.run_id = run AND a.kernel_name_id = g.after_kernel_name_id
WHERE g.run_id = run
    AND g.source_id = of_source
    AND (until_time IS NULL OR g.start_ns < until_time)
    AND (from_time IS NULL OR g.start_ns + g.duration_ns > from_time)
    AND (device IS NULL OR g.device_id = device)
    AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
ORDER BY g.device_id, g.start_ns
