-- facts v1: Facts about the machine, the tool and the capture's settings.
-- grain: one fact of a source
-- key: source_id, key
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: the source
--   key: name of the fact
--   value: its value

SELECT f.source_id, f.key, f.value
FROM source_fact f
WHERE f.run_id = run
ORDER BY f.source_id, f.key
