-- _no-line: Name of what has no line of code.
-- grain: one value
-- key: none
-- scalar: asked of each stack
-- params:
--   stack BIGINT: Python stack, as in stack_sum
-- columns:
--   line: (no file), (no stack) or (not recorded), as in hot-lines

CASE WHEN stack > 0 THEN '(no file)' WHEN stack = 0 THEN '(no stack)' ELSE '(not recorded)' END
