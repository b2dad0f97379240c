-- _note-graph: How much work a table of kernels cannot show. Apart from _run-note, which DuckDB plans for longer than this runs.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

SELECT format('{} CUDA graph replays ({:.3f} ms of device time) were traced as a whole: their kernels are in no kernel table; capture with --cuda-graph-trace=node to see them', count(*), sum(g.duration_ns) / 1e6) AS note
FROM graph_launch g
WHERE g.run_id = run AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND g.mode = 'graph'
HAVING count(*) > 0
