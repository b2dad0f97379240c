-- caveat_iteration: Caveats about steps before which the GPU has no work of any step: in half of them for 5 % or more of the time since the
--     step before began.
-- into: caveat
-- needs: iteration

SELECT
    'pass' AS topic,
    'idle-between-steps' AS kind,
    t.kind AS capture,
    t.is_counted,
    i.stage,
    count(*) AS item_count,
    median(i.before_ns) AS time_ns,
    median(i.before_ns / i.every_ns) AS ratio
FROM (
    SELECT
        i.source_id,
        i.stage,
        i.basis,
        i.before_ns,
        i.is_warmup,
        lag(i.time_ns) OVER (PARTITION BY i.source_id, i.pid, i.device_id ORDER BY i.nth) AS every_ns
    FROM iteration i
    WHERE i.run_id = $run
) i
JOIN timeline t ON t.run_id = $run AND t.source_id = i.source_id
WHERE i.basis = 'step' AND NOT i.is_warmup AND i.before_ns IS NOT NULL AND i.every_ns IS NOT NULL
GROUP BY t.kind, t.is_counted, i.stage
HAVING median(i.before_ns / i.every_ns) >= 0.05
