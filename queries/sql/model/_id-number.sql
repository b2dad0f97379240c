-- _id-number: The number that what has an id has within its run: an id is the run's base plus that number.
-- grain: one value
-- key: none
-- scalar: a number computed from another one
-- params:
--   id BIGINT: the id; a number is its own
-- columns:
--   number: 1, 2, ...

id & 134217727
