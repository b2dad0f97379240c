-- _std: Sample standard deviation (n-1) of whole numbers, from exact sums: unlike stddev_samp it does not depend on row order, so the same
--     run always gives the same digits.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   x BIGINT: the values; NULLs are ignored
-- columns:
--   std: the standard deviation; NULL for fewer than two values

CASE
    WHEN count(x) > 1
        THEN sqrt(
            _spread(count(x), sum(x::HUGEINT), sum(x::HUGEINT * x::HUGEINT)) / (count(x)::DOUBLE * (count(x) - 1))
        )
END
