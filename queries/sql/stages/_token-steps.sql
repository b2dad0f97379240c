-- _token-steps: Steps of a pass that only decodes and makes one token for each of its sequences in every step; NULL for other passes, such
--     as those with speculated tokens, and where it is unknown.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   steps BIGINT: step_count of the pass
--   prompts BIGINT: its prompt_count
--   sequences BIGINT: its decode_count
--   tokens BIGINT: its decode_token_count
-- columns:
--   steps: the steps

CASE WHEN steps > 0 AND prompts = 0 AND tokens = sequences * steps THEN steps END
