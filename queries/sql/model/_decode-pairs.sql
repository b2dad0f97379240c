-- _decode-pairs: Query-key pairs of one sequence's decode steps, by context mode.
-- grain: one value
-- key: none
-- scalar: a formula
-- params:
--   prefill BIGINT: context tokens before the first step
--   decode BIGINT: decode steps
--   window_size BIGINT: tokens that one token attends to; NULL for all
--   context VARCHAR: auto (exact growing context), max (max_context in every step) or fixed (fixed_context in every step)
--   max_context BIGINT: maximum context length of the model
--   fixed_context BIGINT: context length of every step
-- columns:
--   pairs: number of pairs; NULL when the context is unknown

CASE
    WHEN context = 'auto' THEN _context_sum(prefill + 1, prefill + decode, window_size)
    WHEN context = 'max'
        THEN decode::HUGEINT * CASE WHEN max_context > window_size THEN window_size ELSE max_context END
    WHEN context = 'fixed'
        THEN decode::HUGEINT * CASE WHEN fixed_context > window_size THEN window_size ELSE fixed_context END
    ELSE error('ARGUMENT: --context is auto, max or fixed')::HUGEINT
END
