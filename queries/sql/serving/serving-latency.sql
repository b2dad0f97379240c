-- serving-latency v1: Latencies of each benchmark of a serving engine with all their statistics, as the load generator measured them at the
--     client.
-- grain: one latency of one benchmark
-- key: benchmark, metric
-- notes: serving
-- params:
--   run VARCHAR: the run
--   top BIGINT = 0: rows at most; 0 for all
-- columns:
--   benchmark: the benchmark of serving
--   metric: ttft (time to the first token), tpot (time per output token after the first: one value a request), itl (time between tokens or
--     chunks: one value each) or e2e (the whole request)
--   mean_ns: mean; NULL, like every statistic, when the file does not have it
--   p50_ns: median
--   p90_ns: 90th percentile, as the tool computes percentiles: genai-perf, aiperf, vLLM and SGLang between the two nearest values in
--     proportion to their distance, as numpy does by default
--   p95_ns: 95th percentile
--   p99_ns: 99th percentile
--   p999_ns: 99.9th percentile
--   std_ns: standard deviation
--   min_ns: shortest
--   max_ns: longest
--   reported_as: what the file calls it: the inter_token_latency of genai-perf and aiperf is tpot
--   tool: the load generator
--   source_id: the source: the file

WITH b AS (
    SELECT d.benchmark, d.source_id, d.benchmark_id, b.tool
    FROM served d
    JOIN serving_benchmark b ON b.run_id = run AND b.source_id = d.source_id AND b.benchmark_id = d.benchmark_id
    WHERE d.run_id = run
), l AS (
    SELECT
        b.benchmark,
        l.metric,
        CASE l.metric WHEN 'ttft' THEN 1 WHEN 'tpot' THEN 2 WHEN 'itl' THEN 3 ELSE 4 END AS place,
        l.mean_ns,
        l.p50_ns,
        l.p90_ns,
        l.p95_ns,
        l.p99_ns,
        l.p999_ns,
        l.std_ns,
        l.min_ns,
        l.max_ns,
        l.reported_as,
        b.tool,
        b.source_id
    FROM b
    JOIN serving_benchmark_latency l ON l.source_id = b.source_id AND l.benchmark_id = b.benchmark_id
    WHERE l.run_id = run
)
SELECT
    l.benchmark,
    l.metric,
    l.mean_ns,
    l.p50_ns,
    l.p90_ns,
    l.p95_ns,
    l.p99_ns,
    l.p999_ns,
    l.std_ns,
    l.min_ns,
    l.max_ns,
    l.reported_as,
    l.tool,
    l.source_id
FROM l
QUALIFY top = 0 OR row_number() OVER (ORDER BY l.benchmark, l.place) <= top
ORDER BY l.benchmark, l.place
