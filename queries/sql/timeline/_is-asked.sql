-- _is-asked: Whether what is about a kind of timeline is asked for: the counted kind, unless --source names one.
-- grain: one value
-- key: none
-- scalar: a condition on a kind
-- params:
--   kind VARCHAR: kind of timeline
--   is_counted BOOLEAN: whether it is the kind that is counted
--   source VARCHAR: nsys or torch; NULL for the counted one
-- columns:
--   is_asked: whether it is asked for

CASE WHEN source IS NULL THEN is_counted WHEN source IN ('nsys', 'torch') THEN kind = source ELSE error('ARGUMENT: --source is nsys or torch')::BOOLEAN END
