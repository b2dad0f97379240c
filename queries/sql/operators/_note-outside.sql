-- _note-outside: How much device work the operators of a run did not launch, where that is a part worth knowing.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: operators of torch, nsys or key_averages; by default the first of them that the run has
-- columns:
--   note: the sentence

WITH counted AS (
    SELECT c.source_id FROM _operator_source(run, source := source) c WHERE c.capture <> 'key_averages'
), work AS (
    SELECT k.op_id, k.duration_ns FROM kernel k WHERE k.run_id = run AND k.source_id IN (SELECT counted.source_id FROM counted)
    UNION ALL
    SELECT m.op_id, m.duration_ns FROM memop m WHERE m.run_id = run AND m.source_id IN (SELECT counted.source_id FROM counted)
), share AS (
    SELECT sum(w.duration_ns) AS all_ns, coalesce(sum(w.duration_ns) FILTER (w.op_id = 0), 0) AS outside_ns,
        coalesce(sum(w.duration_ns) FILTER (w.op_id IS NULL), 0) AS unknown_ns
    FROM work w
)
SELECT format('{:.1f} % of the device work ({:.3f} of {:.3f} ms) was launched outside every operator, as CUDA graph replays are, and is in no row; see operator-kernels', 100.0 * s.outside_ns / s.all_ns, s.outside_ns / 1e6, s.all_ns / 1e6) AS note
FROM share s WHERE s.outside_ns >= 0.01 * s.all_ns AND s.all_ns > 0
UNION ALL
SELECT format('of {:.1f} % of the device work ({:.3f} of {:.3f} ms) the launch was not captured, so that its operator is unknown; it is in no row', 100.0 * s.unknown_ns / s.all_ns, s.unknown_ns / 1e6, s.all_ns / 1e6)
FROM share s WHERE s.unknown_ns >= 0.01 * s.all_ns AND s.all_ns > 0
UNION ALL
SELECT 'no device work was recorded with these operators: device times are unknown' FROM share s WHERE s.all_ns IS NULL AND EXISTS (SELECT 1 FROM counted)
