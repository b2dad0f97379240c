-- _following-pass: Passes that follow one of their stage, with no other pass of their process between: both measured, or both warm-up, and
--     in one repeat of the workload.
-- grain: one pass
-- key: range_id
-- params:
--   run VARCHAR: the run
-- columns:
--   range_id: the pass, as in stage_pass

SELECT x.range_id
FROM (
    SELECT
        p.range_id,
        lag(p.interval_ns) OVER (PARTITION BY p.source_id, p.pid ORDER BY p.start_ns, p.range_id) AS interval_ns
    FROM stage_pass p
    WHERE p.run_id = run
) x
WHERE x.interval_ns IS NOT NULL
