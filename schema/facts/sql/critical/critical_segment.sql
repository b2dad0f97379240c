-- critical_segment: The critical path of each step of critical_step: what set its length, in the order of time, without a gap.
-- grain: one stretch of time
-- key: step_id, nth
-- needs: _critical_row
-- columns:
--   step_id BIGINT: the step, as in critical_step
--   nth BIGINT: 1, 2, ... in the order of time
--   cause VARCHAR: what the time went to: kernel, graph, copy, collective, collective-wait, earlier, launch, launch-delay, launch-latency,
--     wait, call, host, profiler, queued, stream-wait or unknown
--   start_ns BIGINT: start, from the start of the source
--   duration_ns BIGINT: length
--   kernel_name_id BIGINT: the kernel that ran, was to start, or was waited for (stream-wait); NULL for other work and on the CPU
--   operation VARCHAR: the same of a copy or fill, or graph replay; NULL for kernels and on the CPU
--   api_name_id BIGINT: function of the call; NULL outside calls
--   name_path_id BIGINT: innermost range on the thread, by the least path with the same normalised name; NULL outside ranges, in operators
--     and on a GPU
--   op_name_id BIGINT: innermost operator on the thread; NULL outside operators and on a GPU
--   device_id INTEGER: GPU; NULL on the CPU
--   stream_id INTEGER: CUDA stream, that waited for of stream-wait; NULL on the CPU, and when not recorded
--   tid INTEGER: thread; NULL on a GPU

SELECT
    r.step_id,
    r.nth,
    r.cause,
    r.start_ns,
    r.duration_ns,
    r.kernel_name_id,
    r.operation,
    r.api_name_id,
    r.name_path_id,
    r.op_name_id,
    r.device_id,
    r.stream_id,
    r.tid
FROM _critical_row r
WHERE r.row_kind = 'segment'
