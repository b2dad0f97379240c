-- _counted-std: As _std, for whole numbers with their counts.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   x BIGINT: the values
--   n BIGINT: count of each value
-- columns:
--   std: the standard deviation; NULL for fewer than two occurrences

CASE
    WHEN sum(n) > 1
        THEN sqrt(_spread(sum(n), sum(n::HUGEINT * x), sum(n::HUGEINT * x * x)) / (sum(n)::DOUBLE * (sum(n) - 1)))
END
