-- _counts: Whether a ranking counts work: that of measured passes, and all with --warmup. Who asks for what is outside stages gets it.
-- grain: one value
-- key: none
-- scalar: a condition on a scope
-- params:
--   scope VARCHAR: part of the run, as _scope has it
--   stage VARCHAR: the stage that is asked for
--   warmup BOOLEAN: whether all is
-- columns:
--   counts: whether it does

warmup OR scope = 'measured' OR (coalesce(stage = '(none)', false) AND scope <> 'warm-up')
