-- _mean: Mean of numbers, added up in their order: unlike avg it does not depend on the order of the rows, so that the same run always gives the same digits.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   x DOUBLE: the values; NULLs are left out
-- columns:
--   mean: the mean; NULL for no values

list_avg(list(x ORDER BY x))
