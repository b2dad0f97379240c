-- caveat_reported: Caveats about stages that only another tool has timed: their times are in a file of the run, and no timeline has them.
-- into: caveat
-- needs: reported_value

SELECT
    'stage' AS topic,
    'reported-stages' AS kind,
    true AS is_counted,
    min(s.path) AS object,
    count(DISTINCT v.subject) AS item_count
FROM reported_value v JOIN source s ON s.run_id = v.run_id AND s.source_id = v.source_id
WHERE v.run_id = $run AND v.scope = 'stage' AND v.metric = 'time_ns'
GROUP BY v.run_id
HAVING count(*) > 0
