-- _is-by: Whether a row of step is of the asked way to say which work is a step's.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   asked VARCHAR: launch or time; NULL for the default
--   attribution VARCHAR: the row's
--   is_default BOOLEAN: the row's
-- columns:
--   is_by: whether it is

CASE WHEN asked IS NULL THEN is_default WHEN asked IN ('launch', 'time') THEN attribution = asked ELSE error('ARGUMENT: --by is launch or time')::BOOLEAN END
