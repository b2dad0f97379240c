-- timeline-gaps v2: Idle gaps of the GPUs of one source in a window of time, those with the most time in it first,
--     with what ran before and after.
-- grain: one idle gap
-- key: device, start_ns
-- notes: accounting launch
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   from_time BIGINT = NULL: start of the window, from the start of the source
--   until_time BIGINT = NULL: its end
--   device BIGINT = NULL: only this GPU
--   top BIGINT = 20: maximum rows; 0 for all: the 10,000 longest gaps of each GPU of a source are stored
-- columns:
--   device: GPU
--   start_ns: end of the work before, from the start of the source
--   duration_ns: from there to the start of the work after
--   inside_ns: what of it lies in the window
--   cause: largest part of the gap time, as in accounting: {idle parts}
--   before: work that ended last before the gap: kernel, copy, fill or graph replay
--   after: work that started at its end: kernel, copy, fill or graph replay
--   stage: stage that launched the work after; (none) outside every stage, or when its launch was not captured
--   range: normalised names of the ranges that launched the work after, outermost first; NULL outside every range, or when the launch was
--     not captured

SELECT
    g.device_id AS device,
    g.start_ns,
    g.duration_ns,
    _inside_ns(g.start_ns, g.duration_ns, from_time, until_time) AS inside_ns,
    g.cause,
    g.before,
    g.after,
    coalesce(s.stage, '(none)') AS stage,
    p.path AS range
FROM _trace_gap(run, of_source := of_source, device := device, from_time := from_time, until_time := until_time) g
LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = g.path_id
LEFT JOIN range_path p ON p.run_id = run AND p.path_id = g.path_id
QUALIFY top = 0 OR row_number() OVER (ORDER BY inside_ns DESC, g.device_id, g.start_ns) <= top
ORDER BY inside_ns DESC, g.device_id, g.start_ns
