-- _median-pass: A figure of the median pass of a group: of the pass of median time, and for an even number of passes the mean of the two in
--     the middle, as the median time itself. Figures of one median pass fit together: parts add up, and rates are those of its time.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   x DOUBLE: the figure of each pass
--   time_ns DOUBLE: the time of each pass; those without one are left out
--   pass BIGINT: the pass, by which those of the same time are told apart
-- columns:
--   value: the figure; NULL where it is unknown for a pass in the middle

(
    (list(x ORDER BY time_ns, pass) FILTER (time_ns IS NOT NULL))[(count(time_ns) + 1) // 2]
    + (list(x ORDER BY time_ns, pass) FILTER (time_ns IS NOT NULL))[count(time_ns) // 2 + 1]
) / 2.0::DOUBLE
