-- _digest-rate v1: Rows of the table stage_figure that follow from the passes in the table stage_pass: tokens a second of each stage, as stages tells it.
-- grain: one stage whose tokens and spans are known for all measured passes
-- key: stage
-- params:
--   run VARCHAR: id of the run; a name gives no rows, since looking one up takes longer to plan than the rest
-- columns:
--   run_id: the run
--   stage: the stage
--   metric: tokens_per_s
--   value: tokens of the measured passes by the sum of their spans in seconds

SELECT p.run_id, p.stage, 'tokens_per_s' AS metric, sum(p.prompt_token_count + p.decode_token_count) / (sum(p.gpu_span_ns) / 1e9) AS value
FROM stage_pass p
WHERE p.run_id = try_cast(run AS UUID) AND NOT p.is_warmup
GROUP BY p.run_id, p.stage
HAVING bool_and(p.prompt_token_count + p.decode_token_count IS NOT NULL AND coalesce(p.gpu_span_ns > 0, false))
