-- Times of whole requests, which is all that load generators have of those that were not streamed. Requests may come in a file of their own, next to the summary of the benchmark.
ALTER TABLE serving_request ADD COLUMN e2e_ns DOUBLE;
COMMENT ON COLUMN serving_request.e2e_ns IS 'the whole request, as the load generator has it; NULL when the file does not have it, in which case it is ttft_ns + after_ns, and of a request that failed';
COMMENT ON COLUMN serving_request.output_token_count IS 'tokens generated; 0 of a request that failed; NULL when the file does not have them';
COMMENT ON COLUMN serving_request.ttft_ns IS 'time to the first token; NULL of a request that failed, and of one that was not streamed';
COMMENT ON COLUMN serving_request.gap_count IS 'number of these times: tokens or chunks after the first; NULL when the file does not have it';
COMMENT ON TABLE serving_benchmark IS 'Benchmarks of a serving engine as files of load generators have them: load, counts and throughput of each. The summary and the requests of one benchmark may be two files, and so two rows here; served has each benchmark once.';
COMMENT ON COLUMN serving_request.benchmark_id IS 'the benchmark of serving_benchmark, of the same source';
