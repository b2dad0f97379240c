-- _context-sum: Query-key pairs of several decode steps: the sum of the contexts first, first + 1, ..., last, each capped at the window.
-- grain: one value
-- key: none
-- scalar: a formula
-- params:
--   first BIGINT: context tokens of the first step, its own token included
--   last BIGINT: context tokens of the last step; less than first: no step
--   window_size BIGINT: tokens that one token attends to, itself included; NULL for all
-- columns:
--   pairs: number of pairs

CASE
    WHEN last < first THEN 0::HUGEINT
    WHEN window_size IS NULL OR last <= window_size THEN (first + last)::HUGEINT * (last - first + 1) // 2
    WHEN first > window_size THEN window_size::HUGEINT * (last - first + 1)
    ELSE (first + window_size)::HUGEINT * (window_size - first + 1) // 2 + (last - window_size)::HUGEINT * window_size
END
