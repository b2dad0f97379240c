-- _note-digest v1: That what comparisons read of a run was not made yet.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT format('run {} was stored by prof {}, which made no digest of it: prof diff, prof trend and prof check make it', r.name, r.prof_version) AS note
FROM run r
WHERE r.run_id = _run_id_v1(run) AND NOT EXISTS (SELECT 1 FROM digest d WHERE d.run_id = r.run_id)
