-- How long a thread may take from one launch to the next is told by its own launches (attribute.Pace). Runs of an older prof have 100 us for all.
COMMENT ON COLUMN device_time.launch_delay_ns IS 'idle, between two CUDA calls on the way from one launch to the next';
COMMENT ON COLUMN device_time.host_ns IS 'idle, outside CUDA for 100 us or longer, and for longer than five times what a launch of the thread usually takes';
