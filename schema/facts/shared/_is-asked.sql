-- _is-asked: Whether a timeline kind is selected: the counted kind, unless --source names one.
-- grain: one value
-- key: none
-- scalar: a condition on a kind
-- params:
--   kind VARCHAR: timeline kind
--   is_counted BOOLEAN: whether it is the counted kind
--   source VARCHAR: {timelines}; NULL for the counted one
-- columns:
--   is_asked: whether it is selected

CASE
    WHEN source IS NULL THEN is_counted
    WHEN source IN ({'timelines'}) THEN kind = source
    ELSE error('ARGUMENT: --source is {timelines}')::BOOLEAN
END
