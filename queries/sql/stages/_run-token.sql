-- _run-token: What a token takes in each run, over its measured passes: to each after the first, and to the first.
-- grain: one run
-- key: run_id
-- columns:
--   run_id: the run
--   token_time_ns: median over the measured passes of decode of the GPU span for each step; NULL unless _token-steps is known of all of
--     them. Of several such stages the one with the most time
--   first_token_ns: median GPU span of a measured pass of prefill; NULL without token_time_ns

WITH pass AS (
    SELECT
        p.run_id,
        p.stage,
        p.gpu_span_ns,
        _token_steps(p.step_count, p.prompt_count, p.decode_count, p.decode_token_count) AS steps
    FROM stage_pass p
    WHERE p.is_counted AND NOT p.is_warmup AND p.gpu_span_ns > 0
), token AS (
    SELECT
        p.run_id,
        p.stage,
        sum(p.gpu_span_ns) AS all_ns,
        median(p.gpu_span_ns / p.steps)::DOUBLE AS token_time_ns
    FROM pass p
    GROUP BY p.run_id, p.stage
    HAVING count(*) = count(p.steps)
)
SELECT
    t.run_id,
    arg_max(t.token_time_ns, (t.all_ns, t.stage)) AS token_time_ns,
    (
        SELECT median(p.gpu_span_ns)::DOUBLE
        FROM pass p
        WHERE p.run_id = t.run_id AND p.stage = 'prefill'
    ) AS first_token_ns
FROM token t
GROUP BY t.run_id
