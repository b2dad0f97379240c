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
        row(p.stage, p.is_warmup, p.repeat_id) AS this,
        lag(row(p.stage, p.is_warmup, p.repeat_id)) OVER (
            PARTITION BY p.source_id, p.pid
            ORDER BY p.start_ns, p.range_id
        ) AS last
    FROM stage_pass p
    WHERE p.run_id = run
) x
WHERE x.this = x.last
