-- _median-saving: How much shorter the median pass of a group is when each pass is without some of its time. That is not the part of the
--     pass in the middle: without it another pass may be there.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   x DOUBLE: the time that each pass would be without
--   time_ns DOUBLE: the time of each pass
-- columns:
--   value: what the median time falls by; not negative

(median(time_ns) - median(time_ns - x))
