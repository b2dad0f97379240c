-- Idle time between CUDA calls on the way to the next launch is called launch delay, as the time behind that launch is called launch latency.
ALTER TABLE device_time RENAME COLUMN late_ns TO launch_delay_ns;
ALTER TABLE gap_sum RENAME COLUMN late_ns TO launch_delay_ns;
ALTER TABLE gap RENAME COLUMN late_ns TO launch_delay_ns;

COMMENT ON COLUMN finding_rule.detail IS 'query that shows more, with the options stage, device and source; stragglers takes only the last, and needs a run with several ranks; NULL when there is none';
