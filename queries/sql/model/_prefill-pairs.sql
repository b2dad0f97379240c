-- _prefill-pairs: Queries and keys that meet in the attention of one prompt: all of them (full, as PyTorch's FlopCounter and PaLM count), or those a token may see (causal).
-- grain: one value
-- key: none
-- scalar: a formula
-- params:
--   tokens BIGINT: tokens of the prompt
--   window_size BIGINT: tokens that a token sees, itself included; NULL for all. The full convention takes no notice of it, as attention with a mask computes what it hides
--   convention VARCHAR: full or causal
-- columns:
--   pairs: how many

CASE WHEN convention = 'full' THEN tokens::HUGEINT * tokens
    WHEN convention <> 'causal' THEN error('ARGUMENT: --convention is full or causal')::HUGEINT
    WHEN window_size IS NULL OR tokens <= window_size THEN tokens::HUGEINT * (tokens + 1) // 2
    ELSE window_size::HUGEINT * (window_size + 1) // 2 + (tokens - window_size)::HUGEINT * window_size END
