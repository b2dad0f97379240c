-- serving v1: Benchmarks of a serving engine as load generators measured them at the client: load, throughput, and the latencies that are
--     watched most; serving-latency has all. Of a file of requests without its summary, aiperf's profile_export.jsonl or genai-perf's
--     profile_export.json, prof computes the figures as the tool does.
-- grain: one benchmark
-- key: benchmark
-- notes: serving
-- params:
--   run VARCHAR: the run
--   top BIGINT = 0: rows at most; 0 for all
-- columns:
--   benchmark: 1, 2, ... in the order of files and in each
--   target_requests_per_s: rate at which requests were sent, as asked for; NULL when none was asked for or the file does not say
--   concurrency_limit_count: requests at once at most, as asked for; NULL when there was no limit or the file does not say
--   requests_per_s: requests completed per second; NULL, like all that follows, when the file does not say
--   output_tokens_per_s: tokens generated per second
--   ttft_p50_ns: median time to the first token
--   ttft_p99_ns: 99th percentile of it
--   tpot_p50_ns: median time per output token after the first, one value a request
--   tpot_p99_ns: 99th percentile of it
--   e2e_p99_ns: 99th percentile of the time of a whole request
--   completed_count: requests that succeeded
--   failed_count: requests that failed
--   total_tokens_per_s: tokens of prompts and generated per second
--   concurrency_mean_count: requests at once on average, as measured
--   input_token_count: tokens of all prompts
--   output_token_count: tokens generated in all
--   duration_ns: length of the benchmark
--   is_rate_unlimited: requests were sent without waiting, but for the limit of concurrency
--   tool: the load generator, as vllm-bench, aiperf or guidellm; of a file of prof's own form what that says
--   label: name of the benchmark in the file: of MLPerf the scenario
--   backend: engine or API that was asked, as the file calls it
--   model: model that was asked, as the file calls it
--   date: when it ran, as the file has it: most tools write local time without its zone
--   path: the file; of two, summary and requests, the summary
--   source_id: the source

WITH l AS (
    SELECT
        l.source_id,
        l.benchmark_id,
        max(CASE WHEN l.metric = 'ttft' THEN l.p50_ns END) AS ttft_p50_ns,
        max(CASE WHEN l.metric = 'ttft' THEN l.p99_ns END) AS ttft_p99_ns,
        max(CASE WHEN l.metric = 'tpot' THEN l.p50_ns END) AS tpot_p50_ns,
        max(CASE WHEN l.metric = 'tpot' THEN l.p99_ns END) AS tpot_p99_ns,
        max(CASE WHEN l.metric = 'e2e' THEN l.p99_ns END) AS e2e_p99_ns
    FROM serving_benchmark_latency l
    WHERE l.run_id = run
    GROUP BY l.source_id, l.benchmark_id
), b AS (
    SELECT
        d.benchmark,
        b.target_requests_per_s,
        b.concurrency_limit_count,
        b.requests_per_s,
        b.output_tokens_per_s,
        b.completed_count,
        b.failed_count,
        b.total_tokens_per_s,
        b.concurrency_mean_count,
        b.input_token_count,
        b.output_token_count,
        b.duration_ns,
        b.is_rate_unlimited,
        b.tool,
        b.label,
        b.backend,
        b.model,
        b.date,
        b.source_id,
        b.benchmark_id
    FROM served d
    JOIN serving_benchmark b ON b.run_id = run AND b.source_id = d.source_id AND b.benchmark_id = d.benchmark_id
    WHERE d.run_id = run
)
SELECT
    b.benchmark,
    b.target_requests_per_s,
    b.concurrency_limit_count,
    b.requests_per_s,
    b.output_tokens_per_s,
    l.ttft_p50_ns,
    l.ttft_p99_ns,
    l.tpot_p50_ns,
    l.tpot_p99_ns,
    l.e2e_p99_ns,
    b.completed_count,
    b.failed_count,
    b.total_tokens_per_s,
    b.concurrency_mean_count,
    b.input_token_count,
    b.output_token_count,
    b.duration_ns,
    b.is_rate_unlimited,
    b.tool,
    b.label,
    b.backend,
    b.model,
    b.date,
    s.path,
    b.source_id
FROM b
JOIN source s ON s.run_id = run AND s.source_id = b.source_id
LEFT JOIN l ON l.source_id = b.source_id AND l.benchmark_id = b.benchmark_id
WHERE top = 0 OR b.benchmark <= top
ORDER BY b.benchmark
