-- _centre-variance: Variance of the median of values of variance 1, as comparisons have it: of two values the median is the mean, and of
--     more its variance is taken as that of very many.
-- grain: one value
-- key: none
-- scalar: the error of a median
-- params:
--   n BIGINT: how many values there are
-- columns:
--   variance: of their median

CASE WHEN n < 3 THEN 1.0 / n ELSE pi() / 2 / n END
