-- _caveat-skew: Why a run's collectives cannot be compared between ranks, or in what the comparison is doubtful.
-- grain: one caveat, as in the table caveat
-- key: kind, subject, object, detail
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kind: what it says
--   subject: what it is about
--   object: what else it names
--   detail: what else it says
--   item_count: how many
--   of_count: of how many
--   time_ns: how long

WITH r AS (
    SELECT w.match_id, w.member, w.operation, w.family, w.group_name, w.job_id, w.calls, w.rank_count, w.start_ns, w.is_told, w.error_ns
    FROM rank_wait w WHERE w.run_id = run AND w.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), w AS (
    SELECT r.match_id, any_value(r.is_told) AS is_told, bool_or(r.error_ns IS NULL) AS is_unknown, max(r.error_ns) AS error_ns
    FROM r WHERE r.rank_count > 1 AND r.start_ns IS NOT NULL GROUP BY r.match_id
), n AS (
    SELECT count(*) AS matched, count(*) FILTER (NOT w.is_told) AS doubtful, bool_or(w.is_unknown) AS is_unknown, max(w.error_ns) AS error_ns FROM w
), uneven AS ( -- the ranks of fewest and most
    SELECT coalesce(r.operation, r.family) AS kind, min_by(r.member, (r.calls, r.member)) AS fewest, min(r.calls) AS least, min_by(r.member, (-r.calls, r.member)) AS most, max(r.calls) AS largest
    FROM r GROUP BY r.job_id, coalesce(r.operation, r.family), r.group_name HAVING min(r.calls) < max(r.calls)
)
SELECT 'no-matched-collective' AS kind FROM n WHERE n.matched = 0 AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = run)
UNION ALL BY NAME
SELECT 'uneven-ranks' AS kind, u.kind AS subject, u.fewest AS object, u.most AS detail, u.least AS item_count, u.largest AS of_count FROM uneven u
UNION ALL BY NAME
SELECT 'ranks-apart' AS kind, n.doubtful AS item_count, n.matched AS of_count FROM n WHERE n.doubtful > 0
UNION ALL BY NAME
SELECT 'clocks-by-capture' AS kind FROM n WHERE n.is_unknown
UNION ALL BY NAME
SELECT 'clocks-by-collectives' AS kind, n.error_ns::DOUBLE AS time_ns FROM n WHERE n.error_ns > 0
