-- What a wait for an event waits for: the work launched on a stream before the call that recorded the event. Runs of an older prof do not have it.
ALTER TABLE sync ADD COLUMN record_device_id INTEGER;
ALTER TABLE sync ADD COLUMN record_stream_id INTEGER;
ALTER TABLE sync ADD COLUMN record_start_ns BIGINT;
COMMENT ON COLUMN sync.record_device_id IS 'GPU of the stream that the event was recorded on; NULL as in record_stream_id';
COMMENT ON COLUMN sync.record_stream_id IS 'stream that the event was recorded on; NULL when no event was waited for, and when the capture does not say';
COMMENT ON COLUMN sync.record_start_ns IS 'start of the call that recorded the event: what was launched on that stream before was waited for; NULL when not captured';
-- The short calls that record events and make streams wait for them keep their rows: they say what work waited for.
COMMENT ON TABLE api_call IS 'One CUDA runtime or driver API call that took 5 us or longer, failed, records an event, makes a stream wait for one, or, under Nsight Systems, begins or ends a stream capture; all of them with `prof ingest --with-api-rows`, and in runs of an older prof. The others are in api_sum and api_duration.';
