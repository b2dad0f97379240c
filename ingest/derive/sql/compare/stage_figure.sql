-- stage_figure: Figures of a stage that follow from a model or a rate: what trends show beside times. One that is not known has no row.
-- grain: one stage and metric
-- key: stage, metric
-- columns:
--   stage VARCHAR: the stage, or one of those that mfu shows too: model, vision
--   metric VARCHAR: mfu_ratio, mbu_ratio or tokens_per_s, each over all measured passes
--   value DOUBLE: in the unit that the metric's name says

SELECT p.stage, 'tokens_per_s' AS metric, sum(p.prompt_token_count + p.decode_token_count) / (sum(p.gpu_span_ns) / 1e9) AS value
FROM stage_pass p
WHERE p.run_id = $run AND p.is_counted AND NOT p.is_warmup
GROUP BY p.stage
HAVING bool_and(p.prompt_token_count + p.decode_token_count IS NOT NULL AND coalesce(p.gpu_span_ns > 0, false))
UNION ALL
SELECT u.stage, u.metric, u.value
FROM (
    SELECT m.stage, unnest(['mfu_ratio', 'mbu_ratio']) AS metric, unnest([m.mfu_ratio, m.mbu_ratio]) AS value
    FROM mfu_v2($run) m
    WHERE m.fault IS NULL
) u
WHERE u.value IS NOT NULL
