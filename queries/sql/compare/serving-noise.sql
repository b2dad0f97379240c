-- serving-noise v1: Benchmarks of equivalent runs: same workload, clean commit, software, machine and capture method. What those under the
--     same load and by the same load generator differ in is noise.
-- grain: one benchmark of a run
-- key: run_id, benchmark
-- params:
--   run VARCHAR: the run that sets workload and machine
-- columns:
--   group_name: what the runs share besides workload and machine, the commit first; compare values within one group only
--   run: name of the run
--   benchmark: the benchmark of serving
--   target_requests_per_s: rate at which requests were sent, as asked for; NULL when none was asked for or the file does not say
--   is_rate_unlimited: requests were sent without waiting, but for the limit of concurrency
--   concurrency_limit_count: requests at once at most, as asked for; NULL when there was no limit or the file does not say
--   completed_count: requests that succeeded; NULL, like all that follows, when unknown
--   failed_count: requests that failed
--   input_token_count: tokens of all prompts
--   output_token_count: tokens generated in all
--   tool: the load generator
--   label: name of the benchmark in the file: of MLPerf the scenario
--   model: model that was asked, as the file calls it
--   requests_per_s: requests completed per second
--   output_tokens_per_s: tokens generated per second
--   ttft_mean_ns: mean time to the first token
--   ttft_p50_ns: median of it
--   ttft_p99_ns: 99th percentile of it
--   tpot_mean_ns: mean time per output token after the first, one value a request
--   tpot_p50_ns: median of it
--   tpot_p99_ns: 99th percentile of it
--   itl_mean_ns: mean time between tokens or chunks
--   itl_p50_ns: median of it
--   itl_p99_ns: 99th percentile of it
--   e2e_mean_ns: mean time of a whole request
--   e2e_p50_ns: median of it
--   e2e_p99_ns: 99th percentile of it
--   run_id: run id

-- Of runs that hold the same result the first one counts.
WITH n AS (
    SELECT n.group_name, n.run, n.run_id
    FROM _noise_run(run) n
    WHERE n.group_name IS NOT NULL
), l AS (
    SELECT
        l.run_id,
        l.source_id,
        l.benchmark_id,
        max(CASE WHEN l.metric = 'ttft' THEN l.mean_ns END) AS ttft_mean_ns,
        max(CASE WHEN l.metric = 'ttft' THEN l.p50_ns END) AS ttft_p50_ns,
        max(CASE WHEN l.metric = 'ttft' THEN l.p99_ns END) AS ttft_p99_ns,
        max(CASE WHEN l.metric = 'tpot' THEN l.mean_ns END) AS tpot_mean_ns,
        max(CASE WHEN l.metric = 'tpot' THEN l.p50_ns END) AS tpot_p50_ns,
        max(CASE WHEN l.metric = 'tpot' THEN l.p99_ns END) AS tpot_p99_ns,
        max(CASE WHEN l.metric = 'itl' THEN l.mean_ns END) AS itl_mean_ns,
        max(CASE WHEN l.metric = 'itl' THEN l.p50_ns END) AS itl_p50_ns,
        max(CASE WHEN l.metric = 'itl' THEN l.p99_ns END) AS itl_p99_ns,
        max(CASE WHEN l.metric = 'e2e' THEN l.mean_ns END) AS e2e_mean_ns,
        max(CASE WHEN l.metric = 'e2e' THEN l.p50_ns END) AS e2e_p50_ns,
        max(CASE WHEN l.metric = 'e2e' THEN l.p99_ns END) AS e2e_p99_ns
    FROM serving_benchmark_latency l
    WHERE l.run_id IN (SELECT n.run_id FROM n)
    GROUP BY l.run_id, l.source_id, l.benchmark_id
), b AS (
    SELECT
        n.group_name,
        n.run,
        d.benchmark,
        b.target_requests_per_s,
        b.is_rate_unlimited,
        b.concurrency_limit_count,
        b.completed_count,
        b.failed_count,
        b.input_token_count,
        b.output_token_count,
        b.tool,
        b.label,
        b.model,
        b.requests_per_s,
        b.output_tokens_per_s,
        b.run_id,
        b.source_id,
        b.benchmark_id
    FROM n
    JOIN served d ON d.run_id = n.run_id
    JOIN serving_benchmark b ON b.run_id = d.run_id AND b.source_id = d.source_id AND b.benchmark_id = d.benchmark_id
    JOIN source s ON s.run_id = b.run_id AND s.source_id = b.source_id
    QUALIFY row_number() OVER (PARTITION BY s.sha256, b.benchmark_id ORDER BY b.run_id) = 1
)
SELECT
    b.group_name,
    b.run,
    b.benchmark,
    b.target_requests_per_s,
    b.is_rate_unlimited,
    b.concurrency_limit_count,
    b.completed_count,
    b.failed_count,
    b.input_token_count,
    b.output_token_count,
    b.tool,
    b.label,
    b.model,
    b.requests_per_s,
    b.output_tokens_per_s,
    l.ttft_mean_ns,
    l.ttft_p50_ns,
    l.ttft_p99_ns,
    l.tpot_mean_ns,
    l.tpot_p50_ns,
    l.tpot_p99_ns,
    l.itl_mean_ns,
    l.itl_p50_ns,
    l.itl_p99_ns,
    l.e2e_mean_ns,
    l.e2e_p50_ns,
    l.e2e_p99_ns,
    b.run_id::VARCHAR AS run_id
FROM b
LEFT JOIN l ON l.run_id = b.run_id AND l.source_id = b.source_id AND l.benchmark_id = b.benchmark_id
ORDER BY b.group_name, b.run_id, b.benchmark
