-- _gap-cause: The part of idle time that is the largest, by name; of equal ones the first.
-- grain: one value
-- key: none
-- scalar: asked of each row
-- params:
--   launch BIGINT: inside a call that launches, in ns
--   delay BIGINT: between CUDA calls, on the way to the launch
--   latency BIGINT: launched late, and not started yet
--   wait BIGINT: synchronising
--   call BIGINT: inside another CUDA call
--   host BIGINT: outside CUDA
--   profiler BIGINT: the profiler at work
--   queued BIGINT: launched
--   unknown BIGINT: launch not captured
-- columns:
--   cause: its name, as in accounting

['launch', 'launch-delay', 'launch-latency', 'wait', 'call', 'host', 'profiler', 'queued', 'unknown'][list_position([launch, delay, latency, wait, call, host, profiler, queued, unknown], greatest(launch, delay, latency, wait, call, host, profiler, queued, unknown))]
