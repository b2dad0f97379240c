-- Benchmarks of a serving engine as a load generator measured them at the client: load, counts and throughput of each.
CREATE TABLE serving_benchmark (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the file
    benchmark_id INTEGER NOT NULL, -- 1, 2, ... in the order of the file
    tool VARCHAR NOT NULL, -- the load generator: vllm-bench, sglang-bench, genai-perf, aiperf, trtllm-bench, mlperf-loadgen, or what a file of prof's own form says
    label VARCHAR, -- name of the benchmark as the file says it: vLLM's label, SGLang's tag, the scenario of MLPerf
    backend VARCHAR, -- engine or API that was asked, as the file calls it
    model VARCHAR, -- model that was asked, as the file calls it
    date VARCHAR, -- when it ran, as the file has it: most tools write local time without its zone
    duration_ns DOUBLE, -- length of the benchmark
    completed_count BIGINT, -- requests that succeeded
    failed_count BIGINT, -- requests that failed; NULL, like all that follows, when the file does not say
    input_token_count BIGINT, -- tokens of all prompts
    output_token_count BIGINT, -- tokens generated in all
    target_requests_per_s DOUBLE, -- rate at which requests were sent, as asked for; NULL also when no rate was asked for
    is_rate_unlimited BOOLEAN, -- requests were sent without waiting, but for the limit of concurrency
    concurrency_limit_count BIGINT, -- requests at once at most, as asked for
    concurrency_mean_count DOUBLE, -- requests at once on average, as measured
    requests_per_s DOUBLE, -- requests completed per second
    output_tokens_per_s DOUBLE, -- tokens generated per second
    total_tokens_per_s DOUBLE -- tokens of prompts and generated per second
);
-- Latencies of a benchmark at the client, over its requests (itl: over its tokens). Statistics that the file lacks are NULL.
CREATE TABLE serving_benchmark_latency (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    benchmark_id INTEGER NOT NULL, -- the benchmark of serving_benchmark
    metric VARCHAR NOT NULL, -- ttft: time to the first token; tpot: time per output token after the first, one value a request; itl: time between tokens or chunks, one value each; e2e: the whole request
    reported_as VARCHAR NOT NULL, -- what the file calls it: inter_token_latency of genai-perf and aiperf is tpot
    mean_ns DOUBLE, -- mean
    std_ns DOUBLE, -- standard deviation
    min_ns DOUBLE, -- shortest
    p50_ns DOUBLE, -- median
    p90_ns DOUBLE, -- 90th percentile, as the tool computes percentiles
    p95_ns DOUBLE, -- 95th percentile
    p99_ns DOUBLE, -- 99th percentile
    p999_ns DOUBLE, -- 99.9th percentile
    max_ns DOUBLE -- longest
);
