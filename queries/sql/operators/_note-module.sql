-- _note-module: Why the run has no times of nn.Modules, and that those of several traces are added up.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT n.note FROM _note_stack(run) n
UNION ALL
SELECT 'the recorded Python functions hold no call of an nn.Module'
FROM run r
WHERE r.run_id = run AND EXISTS (SELECT 1 FROM python_stack s WHERE s.run_id = r.run_id) AND NOT EXISTS (SELECT 1 FROM python_stack s WHERE s.run_id = r.run_id AND s.is_module)
UNION ALL
SELECT format('the modules of {} traces are added up', count(DISTINCT c.source_id))
FROM python_call c WHERE c.run_id = run AND c.module_cpu_ns IS NOT NULL HAVING count(DISTINCT c.source_id) > 1
