-- _run-token: What a token takes in each run, over its measured passes: to each after the first, and to the first.
-- grain: one run
-- key: run_id
-- params:
--   runs UUID[] = NULL: only these runs
-- columns:
--   run_id: the run
--   token_time_ns: median over the measured passes of decode of the GPU span for each step; NULL unless _token-steps is known of all of
--     them. Of several such stages the one with the most time. Of a run without a timeline the median TPOT of its one benchmark
--   first_token_ns: median GPU span of a measured pass of prefill; of such a benchmark the median TTFT

WITH stage AS (
    SELECT
        p.run_id,
        p.stage,
        sum(p.gpu_span_ns) AS all_ns,
        median(p.gpu_span_ns)::DOUBLE AS span_ns,
        median(p.gpu_span_ns / p.token_steps)::DOUBLE AS token_time_ns,
        bool_and(p.token_steps IS NOT NULL) AS is_token
    FROM _whole_pass(runs := runs) p
    WHERE p.gpu_span_ns > 0
    GROUP BY p.run_id, p.stage
), gpu AS (
    SELECT
        s.run_id,
        arg_max(s.token_time_ns, (s.all_ns, s.stage)) FILTER (s.is_token) AS token_time_ns,
        max(s.span_ns) FILTER (s.stage = 'prefill') AS first_token_ns
    FROM stage s
    GROUP BY s.run_id
    HAVING bool_or(s.is_token)
), client AS (
    SELECT
        l.run_id,
        max(CASE WHEN l.metric = 'tpot' THEN l.p50_ns END) AS token_time_ns,
        max(CASE WHEN l.metric = 'ttft' THEN l.p50_ns END) AS first_token_ns
    FROM serving_benchmark_latency l
    WHERE (runs IS NULL OR l.run_id IN (SELECT unnest(runs))) AND l.run_id NOT IN (SELECT t.run_id FROM timeline t)
    GROUP BY l.run_id
    HAVING count(DISTINCT (l.source_id, l.benchmark_id)) = 1
)
SELECT
    g.run_id,
    g.token_time_ns,
    g.first_token_ns
FROM gpu g
UNION ALL
SELECT
    c.run_id,
    c.token_time_ns,
    c.first_token_ns
FROM client c
