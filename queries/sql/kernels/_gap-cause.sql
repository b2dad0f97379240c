-- _gap-cause: Name of the largest part of idle time; the first of equals.
-- grain: one value
-- key: none
-- scalar: asked of each row
-- params:
--   launch BIGINT: in a launching call, in ns
--   delay BIGINT: between CUDA calls, on the way to the launch
--   latency BIGINT: launched after the GPU ran dry, not started yet
--   wait BIGINT: waiting for the GPU
--   call BIGINT: in another CUDA call
--   host BIGINT: outside CUDA
--   profiler BIGINT: profiler at work
--   queued BIGINT: launched before the GPU ran dry
--   unknown BIGINT: launch not captured
-- columns:
--   cause: name of the part, as in accounting

['launch', 'launch-delay', 'launch-latency', 'wait', 'call', 'host', 'profiler', 'queued', 'unknown'][list_position([launch, delay, latency, wait, call, host, profiler, queued, unknown], greatest(launch, delay, latency, wait, call, host, profiler, queued, unknown))]
