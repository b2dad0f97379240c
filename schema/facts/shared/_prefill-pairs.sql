-- _prefill-pairs: Query-key pairs in the attention of one prompt: all (full, as PyTorch's FlopCounter and PaLM count) or those the mask
--     allows (causal).
-- grain: one value
-- key: none
-- scalar: a formula
-- params:
--   tokens BIGINT: prompt tokens
--   window_size BIGINT: tokens that one token attends to, itself included; NULL for all. The full convention ignores it, since masked
--     attention computes the masked pairs
--   convention VARCHAR: full or causal
-- columns:
--   pairs: number of pairs

CASE
    WHEN convention = 'full' THEN tokens::HUGEINT * tokens
    WHEN convention <> 'causal' THEN error('ARGUMENT: --convention is full or causal')::HUGEINT
    WHEN window_size IS NULL OR tokens <= window_size THEN tokens::HUGEINT * (tokens + 1) // 2
    ELSE window_size::HUGEINT * (window_size + 1) // 2 + (tokens - window_size)::HUGEINT * window_size
END
