-- _note-skew v1: Why a run's collectives cannot be compared between ranks, or in what the comparison is doubtful.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

WITH w AS (
    SELECT w.match_id, any_value(w.operation) AS operation, any_value(w.last_start_ns <= w.first_end_ns) AS is_joint, bool_or(w.error_ns IS NULL) AS is_unknown, max(w.error_ns) AS error_ns
    FROM _rank_wait_v1(run, source := source) w WHERE w.rank_count > 1 AND w.start_ns IS NOT NULL GROUP BY w.match_id
)
SELECT 'no collective of the run is matched between ranks: it has one rank only, or none that communicates by kernels that kernel_rule knows as collectives' AS note
WHERE NOT EXISTS (SELECT 1 FROM w) AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = _run_id_v1(run))
UNION ALL
SELECT format('in {} of {} matched collectives the ranks were not all at the same moment: they may be ranks of different communicators, their clocks may be off, or a capture begins between collectives', count(*) FILTER (NOT w.is_joint), count(*))
FROM w WHERE coalesce(w.operation NOT IN ('broadcast', 'reduce', 'gather', 'scatter'), true) HAVING count(*) FILTER (NOT w.is_joint) > 0
UNION ALL
SELECT 'the clocks of several sources are aligned by when each capture began, for want of matched collectives that tell better: on several machines that is good to what their clocks differ; see prof query clock-offsets'
FROM w HAVING bool_or(w.is_unknown)
UNION ALL
SELECT format('the clocks of several sources are aligned by the ends of matched collectives: a skew may be off by {:.1f} us; see prof query clock-offsets', max(w.error_ns) / 1e3)
FROM w HAVING max(w.error_ns) > 0
