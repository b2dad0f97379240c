-- _spread: What the squares of whole numbers exceed their mean by, times their count squared: exact where HUGEINT holds it, which all but
--     absurd times and sizes fit.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   n HUGEINT: count of the numbers
--   total HUGEINT: their sum
--   squares HUGEINT: sum of their squares
-- columns:
--   spread: n * squares - total * total

CASE
    WHEN n::DOUBLE * squares < 1e38 THEN (n::HUGEINT * squares - total::HUGEINT * total)::DOUBLE
    ELSE greatest(n::DOUBLE * squares - total::DOUBLE * total, 0)
END
