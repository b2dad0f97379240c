-- _id-number: The number of an id within its run: an id is the run's base plus that number.
-- grain: one value
-- key: none
-- scalar: a number computed from another one
-- params:
--   id BIGINT: the id; a number maps to itself
-- columns:
--   number: 1, 2, ...

id & 134217727
