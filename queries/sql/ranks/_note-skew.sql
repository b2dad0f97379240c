-- _note-skew: Why a run's collectives cannot be compared between ranks, or in what the comparison is doubtful.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

WITH r AS (
    SELECT w.match_id, w.member, w.operation, w.family, w.group_name, w.job_id, w.calls, w.rank_count, w.start_ns, w.is_joint, w.is_told, w.error_ns
    FROM rank_wait w WHERE w.run_id = run AND w.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), w AS (
    SELECT r.match_id, any_value(r.is_told) AS is_told, bool_or(r.error_ns IS NULL) AS is_unknown, max(r.error_ns) AS error_ns
    FROM r WHERE r.rank_count > 1 AND r.start_ns IS NOT NULL GROUP BY r.match_id
), uneven AS (
    SELECT r.job_id, coalesce(r.operation, r.family) AS kind, r.group_name, min_by(r.member, (r.calls, r.member)) AS fewest, min(r.calls) AS least, min_by(r.member, (-r.calls, r.member)) AS most, max(r.calls) AS largest
    FROM r GROUP BY ALL HAVING min(r.calls) < max(r.calls)
)
SELECT 'no collective of the run is matched between ranks: it has one rank only, or none that communicates by kernels that kernel_rule knows as collectives' AS note
WHERE NOT EXISTS (SELECT 1 FROM w) AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = run)
UNION ALL
SELECT format('ranks have different numbers of collectives: {}{}; matched are those that run at the same time', string_agg(format('{} has {} of {}, {} has {}', u.fewest, u.least, u.kind, u.most, u.largest), '; ' ORDER BY u.place) FILTER (u.place <= 3),
    CASE WHEN count(*) > 3 THEN format('; and so on for {} more', count(*) - 3) ELSE '' END)
FROM (SELECT u.fewest, u.least, u.kind, u.most, u.largest, row_number() OVER (ORDER BY u.job_id, u.kind, u.group_name) AS place FROM uneven u) u HAVING count(*) > 0
UNION ALL
SELECT format('in {} of {} matched collectives the ranks were not all at the same moment, and who was last is not told: they may be ranks of different communicators, their clocks may be off, or a capture begins between collectives', count(*) FILTER (NOT w.is_told), count(*))
FROM w HAVING count(*) FILTER (NOT w.is_told) > 0
UNION ALL
SELECT 'the clocks of several sources are aligned by when each capture began, for want of matched collectives that tell better: on several machines that is good to what their clocks differ; see prof query clock-offsets'
FROM w HAVING bool_or(w.is_unknown)
UNION ALL
SELECT format('the clocks of several sources are aligned by the ends of matched collectives: a skew may be off by {:.1f} us; see prof query clock-offsets', max(w.error_ns) / 1e3)
FROM w HAVING max(w.error_ns) > 0
