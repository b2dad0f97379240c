-- Idle time behind launches that began after the GPU had run dry: from the return of the launch to the start of its work, where that is
-- less than 100 us. That of work which was launched before, or took longer to start, is in queued_ns. Runs ingested before this was told apart have all of it there, and 0 here.
ALTER TABLE device_time ADD COLUMN launch_latency_ns BIGINT;
ALTER TABLE gap_sum ADD COLUMN launch_latency_ns BIGINT;
ALTER TABLE gap ADD COLUMN launch_latency_ns BIGINT;
UPDATE device_time SET launch_latency_ns = 0;
UPDATE gap_sum SET launch_latency_ns = 0;
UPDATE gap SET launch_latency_ns = 0;
COMMENT ON COLUMN device_time.launch_latency_ns IS 'idle although that launch, which began when the GPU had run dry, had returned, less than 100 us before its work';
COMMENT ON COLUMN gap_sum.launch_latency_ns IS 'see device_time';
COMMENT ON COLUMN gap.launch_latency_ns IS 'see device_time';
COMMENT ON COLUMN device_time.queued_ns IS 'idle although that launch, had returned, having begun before the GPU ran dry or 100 us and longer before its work: the device took its time, or waited for an event or another stream';
