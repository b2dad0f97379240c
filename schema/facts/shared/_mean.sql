-- _mean: Mean of numbers, summed in sorted order: unlike avg it does not depend on row order, so the same run always gives the same digits.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   x DOUBLE: the values; NULLs are ignored
-- columns:
--   mean: the mean; NULL for no values

list_avg(list(x ORDER BY x))
