-- _inside-ns: How much of what runs for some time lies in a window of time that it reaches into.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   start_ns BIGINT: when it starts
--   duration_ns BIGINT: how long it runs
--   from_time BIGINT: start of the window; NULL for none
--   until_time BIGINT: end of the window; NULL for none
-- columns:
--   inside_ns: time in the window

least(start_ns + duration_ns, coalesce(until_time, start_ns + duration_ns)) - greatest(start_ns, coalesce(from_time, start_ns))
