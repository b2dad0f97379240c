-- _decode-pairs: Keys that the queries of one sequence's decode steps meet, by the way the context is taken.
-- grain: one value
-- key: none
-- scalar: a formula
-- params:
--   prefill BIGINT: tokens in the context before the first step
--   decode BIGINT: steps
--   window_size BIGINT: tokens that a token sees; NULL for all
--   context VARCHAR: auto (the context as it grows, exactly), max (max_context in every step) or fixed (fixed_context in every step)
--   max_context BIGINT: positions the model was made for
--   fixed_context BIGINT: the context of every step
-- columns:
--   pairs: how many; NULL when the context is not known

CASE WHEN context = 'auto' THEN _context_sum(prefill + 1, prefill + decode, window_size)
    WHEN context = 'max' THEN decode::HUGEINT * CASE WHEN max_context > window_size THEN window_size ELSE max_context END
    WHEN context = 'fixed' THEN decode::HUGEINT * CASE WHEN fixed_context > window_size THEN window_size ELSE fixed_context END
    ELSE error('ARGUMENT: --context is auto, max or fixed')::HUGEINT END
