-- _counted-median: Median of whole numbers that come with how often each occurs; of an even number of them the mean of the middle two.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   x BIGINT: the values, each once in the group
--   upto BIGINT: how often it or a lesser one occurs
--   n BIGINT: how often all of the group occur
-- columns:
--   median: the median

(min(x) FILTER (upto > (n - 1) // 2) + min(x) FILTER (upto > n // 2)) / 2.0::DOUBLE
