-- timeline-next v1: Kernels of a name next to a time: those that start after it, or, with before, those that start before it.
-- grain: one kernel
-- key: source_id, device, pid, context, stream, start_ns, duration_ns, name
-- notes: graph
-- params:
--   run VARCHAR: the run
--   name VARCHAR = NULL: text in the name, in upper or lower case; default: all kernels
--   of_source BIGINT = 1: the source
--   at_time BIGINT = -9000000000000000000: the time, from the start of the source
--   before BOOLEAN = false: those before it, the last first
--   top BIGINT = 1: maximum rows, at least 1
-- columns:
--   source_id: the source
--   device: GPU
--   pid: process; NULL when the capture has none
--   context: CUDA context
--   stream: CUDA stream
--   start_ns: start, from the start of the source
--   duration_ns: duration
--   name: kernel

-- Names come last, to the few that are shown.
WITH named AS (
    SELECT n.kernel_name_id
    FROM kernel_name n
    WHERE n.run_id = run AND (name IS NULL OR contains(lower(n.name), lower(name)))
), near AS (
    SELECT
        k.source_id,
        k.device_id,
        k.pid,
        k.context_id,
        k.stream_id,
        k.start_ns,
        k.duration_ns,
        k.kernel_name_id,
        CASE WHEN before THEN -k.start_ns ELSE k.start_ns END AS away_ns
    FROM kernel k SEMI JOIN named n ON n.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = run
        AND k.source_id = of_source
        AND CASE WHEN before THEN k.start_ns < at_time ELSE k.start_ns > at_time END
    ORDER BY away_ns, k.device_id, k.pid, k.context_id, k.stream_id, k.duration_ns, k.kernel_name_id
    LIMIT greatest(top, 1)
)
SELECT
    k.source_id,
    k.device_id AS device,
    k.pid,
    k.context_id AS context,
    k.stream_id AS stream,
    k.start_ns,
    k.duration_ns,
    n.name
FROM near k JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = k.kernel_name_id
ORDER BY k.away_ns, k.device_id, k.pid, k.context_id, k.stream_id, k.duration_ns, n.name
