-- _note-capture: Why nothing is known of how a run was captured.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT 'the run was not made by prof capture: nothing is known of its passes, their overhead and the state of the GPU' AS note
FROM run r
WHERE r.run_id = run AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.run_id = r.run_id)
