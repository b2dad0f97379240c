-- _is-shown: Whether something that runs for some time is in a window of time; true for a window without bounds.
-- grain: one value
-- key: none
-- scalar: a condition on two times
-- params:
--   start_time BIGINT: when it starts
--   end_time BIGINT: when it ends; NULL when it never does
--   from_time BIGINT: start of the window; NULL for none
--   until_time BIGINT: end of the window; NULL for none
-- columns:
--   is_shown: whether they overlap

(until_time IS NULL OR start_time < until_time) AND (from_time IS NULL OR end_time IS NULL OR end_time >= from_time)
