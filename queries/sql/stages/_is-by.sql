-- _is-by: Whether a row of step uses the selected attribution of work to steps.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   asked VARCHAR: launch or time; NULL for the default
--   attribution VARCHAR: attribution of the row
--   is_default BOOLEAN: whether it is the row's default
-- columns:
--   is_by: whether it does

CASE
    WHEN asked IS NULL THEN is_default
    WHEN asked IN ('launch', 'time') THEN attribution = asked
    ELSE error('ARGUMENT: --by is launch or time')::BOOLEAN
END
