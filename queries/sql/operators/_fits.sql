-- _fits: Whether a name fits one of several globs.
-- grain: one value
-- key: none
-- scalar: a condition on a name
-- params:
--   name VARCHAR: the name
--   globs VARCHAR: globs with commas between; NULL fits all
-- columns:
--   fits: whether it fits

globs IS NULL OR len(list_filter(string_split(globs, ','), lambda g: name GLOB trim(g))) > 0
