-- _counted-median: Median of whole numbers with their counts; mean of the middle two for an even total.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   x BIGINT: the values, each once per group
--   upto BIGINT: cumulative count up to this value
--   n BIGINT: total count of the group
-- columns:
--   median: the median

(min(x) FILTER (upto > (n - 1) // 2) + min(x) FILTER (upto > n // 2)) / 2.0::DOUBLE
