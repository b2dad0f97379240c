-- _note-stack: That Python functions were not recorded.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT 'no Python functions were recorded: the PyTorch profiler does so with torch.profiler.profile(with_stack=True)' AS note
FROM run r
WHERE r.run_id = run AND NOT EXISTS (SELECT 1 FROM python_stack s WHERE s.run_id = r.run_id)
