-- _note-match v1: How many profiled launches stand for kernels of the timeline, and for how much of its time. Apart from _run-note, because DuckDB plans it for longer than it runs.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT x.note FROM (
SELECT format('{} of {} profiled launches match the timeline; their kernels are {:.1f} % of its kernel time{}', count(m.matched_by), count(*),
    100.0 * coalesce((
        SELECT sum(t.total_ns) FROM _timeline_grid_v1(run) t
        WHERE EXISTS (SELECT 1 FROM _ncu_match_v1(run) y WHERE y.matched_by IS NOT NULL AND y.timeline_name_id = t.kernel_name_id AND y.grid = t.grid AND y.block = t.block)), 0)
    / nullif((SELECT sum(k.duration_ns) FROM kernel k WHERE k.run_id = _run_id_v1(run)), 0),
    CASE WHEN count(m.matched_by) < count(*) THEN ': for the others see prof query ncu-matches --unmatched' ELSE '' END)
FROM _ncu_match_v1(run) m
WHERE EXISTS (SELECT 1 FROM kernel k WHERE k.run_id = _run_id_v1(run)) HAVING count(*) > 0
) x(note)
