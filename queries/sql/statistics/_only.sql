-- _only: The value of the only row of a group: what several reported sums had for themselves does not tell what it is of all of them.
-- grain: one value of a group
-- key: none
-- scalar: an aggregate is an expression
-- params:
--   x DOUBLE: the value of each row
-- columns:
--   only: it; NULL for several rows

CASE WHEN count(*) = 1 THEN min(x) END
