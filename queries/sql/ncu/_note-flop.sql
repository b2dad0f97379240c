-- _note-flop: Whether operations were measured at all. Apart from _run-note, because DuckDB plans it for longer than it runs.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT x.note FROM (
SELECT 'no operations were measured: profile with ncu --set roofline or full'
WHERE EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = run AND l.kind = 'kernel') AND NOT EXISTS (SELECT 1 FROM _ncu_flop(run) f WHERE f.flop IS NOT NULL)
) x(note)
