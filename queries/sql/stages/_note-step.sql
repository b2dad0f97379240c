-- _note-step: Sources whose steps no range tells, and how they are told there.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

SELECT format('no range of {} is named as a step or iteration: a step is what recurs on the GPU, from one occurrence to the next; there is none where no kernel or graph replay has 80 % of its occurrences equally many kernels apart and half of all kernels between them', s.path) AS note
FROM source s
WHERE s.run_id = run AND s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND s.source_id NOT IN (SELECT x.source_id FROM step x WHERE x.run_id = run AND x.basis = 'range')
