-- serving-requests v1: Requests of benchmarks of a serving engine one by one, as the load generator saved them (vllm bench serve --save-detailed, SGLang's --output-details).
-- grain: one request of a benchmark
-- key: benchmark, request
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
-- columns:
--   benchmark: the benchmark of serving
--   request: 1, 2, ... in the order of the file
--   input_token_count: tokens of the prompt; NULL when the file does not have them
--   output_token_count: tokens generated; 0 of a request that failed
--   ttft_ns: time to the first token; NULL, like all times, of a request that failed
--   tpot_ns: time per output token after the first: (last token - first) / (output tokens - 1); NULL of a request of one token, of one that came as a single chunk, and when the file does not have its times between tokens
--   itl_mean_ns: mean time between its tokens or chunks; NULL without any
--   e2e_ns: time to the last token; NULL when the file does not have the times between tokens
--   tool: the load generator
--   source_id: the source: the file

WITH b AS (
    SELECT row_number() OVER (ORDER BY b.source_id, b.benchmark_id) AS benchmark, b.source_id, b.benchmark_id, b.tool FROM serving_benchmark b WHERE b.run_id = run
)
SELECT b.benchmark, q.request_id AS request, q.input_token_count, q.output_token_count, q.ttft_ns, CASE WHEN q.output_token_count > 1 AND q.gap_count > 0 THEN q.after_ns / (q.output_token_count - 1) END AS tpot_ns,
    q.after_ns / nullif(q.gap_count, 0) AS itl_mean_ns, q.ttft_ns + q.after_ns AS e2e_ns, b.tool, b.source_id
FROM b JOIN serving_request q ON q.source_id = b.source_id AND q.benchmark_id = b.benchmark_id WHERE q.run_id = run
ORDER BY b.benchmark, q.request_id
LIMIT CASE WHEN top = 0 THEN 9223372036854775807 ELSE top END
