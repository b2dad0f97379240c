-- Requests of a benchmark of a serving engine one by one, as a load generator saved them with its details. Requests that failed have no latencies.
CREATE TABLE serving_request (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    benchmark_id INTEGER NOT NULL, -- the benchmark of serving_benchmark
    request_id INTEGER NOT NULL, -- 1, 2, ... in the order of the file
    input_token_count BIGINT, -- tokens of the prompt; NULL when the file does not have them
    output_token_count BIGINT, -- tokens generated; 0 of a request that failed
    ttft_ns DOUBLE, -- time to the first token; NULL of a request that failed
    after_ns DOUBLE, -- from the first token to the last: the sum of the times between tokens; NULL when the file does not have them
    gap_count INTEGER -- number of these times: tokens or chunks after the first; likewise
);
