-- _note-bound: For how many profiled kernels the bound or limiter is not known, and which metric is missing. Apart from _run-note, because DuckDB plans it for longer than it runs.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

SELECT x.note FROM (
SELECT format('of {} kernels the bound or limiter is not known; {}', count(*), min(c.evidence))
FROM _ncu_class(run, source := source) c WHERE starts_with(c.evidence, 'missing') HAVING count(*) > 0
) x(note)
