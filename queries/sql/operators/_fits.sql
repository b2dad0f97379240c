-- _fits: Whether a name matches one of several globs.
-- grain: one value
-- key: none
-- scalar: a condition on a name
-- params:
--   name VARCHAR: the name
--   globs VARCHAR: globs separated by commas; NULL matches all
-- columns:
--   fits: whether it matches

globs IS NULL OR len(list_filter(string_split(globs, ','), lambda g: name GLOB trim(g))) > 0
