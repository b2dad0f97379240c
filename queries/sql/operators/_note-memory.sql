-- _note-memory: That allocations were not recorded.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT 'no allocations were recorded: the PyTorch profiler does so with torch.profiler.profile(profile_memory=True)' AS note
FROM run r
WHERE r.run_id = run AND NOT EXISTS (SELECT 1 FROM memory_event m WHERE m.run_id = r.run_id)
