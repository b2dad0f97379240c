-- _scope: The part of a run that device work belongs to: its measured passes, those that means exclude, what was launched before the first
--     pass, and what lies outside stages. Where nothing was measured all work counts.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   is_known BOOLEAN: whether its source is in measured_source
--   is_warmup BOOLEAN: of its pass, as in pass_context; NULL outside every pass
--   is_before BOOLEAN: whether it was launched before measured_source's begin_ns
-- columns:
--   scope: measured, warm-up, initialisation or outside

CASE
    WHEN NOT is_known OR NOT is_warmup THEN 'measured'
    WHEN is_warmup THEN 'warm-up'
    WHEN is_before THEN 'initialisation'
    ELSE 'outside'
END
