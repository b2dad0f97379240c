-- _context-sum: Keys that the queries of several decode steps meet: the sum of the contexts first, first + 1, ..., last, each at most the window.
-- grain: one value
-- key: none
-- scalar: a formula
-- params:
--   first BIGINT: tokens in the context of the first step, its own included
--   last BIGINT: those of the last step; less than first: no step
--   window_size BIGINT: tokens that a token sees, itself included; NULL for all
-- columns:
--   pairs: how many

CASE WHEN last < first THEN 0::HUGEINT
    WHEN window_size IS NULL OR last <= window_size THEN (first + last)::HUGEINT * (last - first + 1) // 2
    WHEN first > window_size THEN window_size::HUGEINT * (last - first + 1)
    ELSE (first + window_size)::HUGEINT * (window_size - first + 1) // 2 + (last - window_size)::HUGEINT * window_size END
