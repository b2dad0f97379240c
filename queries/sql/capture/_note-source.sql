-- _note-source: Sources of the run that are not whole: what is missing is in no sum.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT format('{} is {}: {}', s.path, s.status, s.reason) AS note
FROM source s
WHERE s.run_id = run AND s.status <> 'ok'
