-- _stack-cut: Python stacks cut at the function that they are counted for.
-- grain: one stack
-- key: stack_id
-- params:
--   run VARCHAR: the run
--   by VARCHAR = 'own': the innermost function that is the user's own code, else the innermost with a file (own), or the innermost with a
--     file (any)
-- columns:
--   stack_id: the stack
--   at_id: the stack up to that function; NULL when no function has a file
--   code: own (the user's) or library
--   inside: innermost function of the stack, where it is another

SELECT
    c.stack_id,
    c.at_id,
    CASE WHEN c.at_id = c.own_stack_id THEN 'own' WHEN c.at_id IS NOT NULL THEN 'library' END AS code,
    CASE WHEN c.at_id <> c.stack_id THEN c.function END AS inside
FROM (
    SELECT
        l.stack_id,
        l.own_stack_id,
        l.function,
        CASE "by"
            WHEN 'own' THEN coalesce(l.own_stack_id, l.file_stack_id)
            WHEN 'any' THEN l.file_stack_id
            ELSE error('ARGUMENT: --by is own or any')::BIGINT
        END AS at_id
    FROM stack_line l
    WHERE l.run_id = run
) c
