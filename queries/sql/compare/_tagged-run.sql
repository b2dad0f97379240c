-- _tagged-run: Runs that have all of some tags.
-- grain: one run
-- key: run_id
-- params:
--   tag VARCHAR = NULL: tags as key=value, separated by line breaks; NULL: all runs
-- columns:
--   run_id: the run

SELECT r.run_id
FROM run r
WHERE tag IS NULL
    OR r.run_id IN (
        SELECT t.run_id
        FROM run_tag t
        WHERE list_contains(string_split(tag, chr(10)), t.key || '=' || t.value)
        GROUP BY t.run_id
        HAVING count(*) = len(list_distinct(string_split(tag, chr(10))))
    )
