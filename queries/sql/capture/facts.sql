-- facts v1: Properties of the machine, the tool and the capture settings.
-- grain: one property of one source
-- key: source_id, key
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: the source
--   key: property name
--   value: property value

SELECT f.source_id, f.key, f.value
FROM source_fact f
WHERE f.run_id = run
ORDER BY f.source_id, f.key
