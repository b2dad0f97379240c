-- caveat_critical: Caveats about steps without a critical path, or without its stretches.
-- into: caveat
-- needs: critical_step

SELECT
    'critical' AS topic,
    CASE s.reason WHEN 'size' THEN 'steps-too-large' ELSE 'stretches-not-stored' END AS kind,
    t.kind AS capture,
    t.is_counted,
    s.stage,
    count(*) AS item_count
FROM critical_step s JOIN timeline t ON t.run_id = s.run_id AND t.source_id = s.source_id
WHERE s.run_id = $run AND s.reason IS NOT NULL
GROUP BY s.reason, t.kind, t.is_counted, s.stage
