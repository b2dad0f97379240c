-- serving-requests v1: Requests of benchmarks of a serving engine one by one, as the load generator saved them (vllm bench serve
--     --save-detailed, SGLang's --output-details, profile_export.jsonl of aiperf, profile_export.json of genai-perf).
-- grain: one request of a benchmark
-- key: benchmark, request
-- notes: serving
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
-- columns:
--   benchmark: the benchmark of serving
--   request: 1, 2, ... in the order of the file
--   input_token_count: tokens of the prompt; NULL when the file does not have them
--   output_token_count: tokens generated; 0 of a request that failed; NULL when the file does not have them, as that of genai-perf
--   ttft_ns: time to the first token; NULL, like all times, of a request that failed, and of one that was not streamed
--   tpot_ns: time per output token after the first: (last token - first) / (output tokens - 1); NULL of a request of one token, of one that
--     came as a single chunk, and when the file does not have its tokens or the times between them
--   itl_mean_ns: mean time between its tokens or chunks; NULL without any
--   e2e_ns: time to the last token; NULL when the file has neither it nor the times between tokens
--   tool: the load generator
--   source_id: the source: the file

WITH b AS (
    SELECT d.benchmark, d.request_source_id, d.request_benchmark_id, b.tool
    FROM served d
    JOIN serving_benchmark b ON b.run_id = run AND b.source_id = d.source_id AND b.benchmark_id = d.benchmark_id
    WHERE d.run_id = run
)
SELECT
    b.benchmark,
    q.request_id AS request,
    q.input_token_count,
    q.output_token_count,
    q.ttft_ns,
    CASE
        WHEN q.output_token_count > 1 AND coalesce(q.gap_count, 1) > 0 THEN q.after_ns / (q.output_token_count - 1)
    END AS tpot_ns,
    q.after_ns / nullif(q.gap_count, 0) AS itl_mean_ns,
    coalesce(q.e2e_ns, q.ttft_ns + q.after_ns) AS e2e_ns,
    b.tool,
    q.source_id
FROM b
JOIN serving_request q ON q.source_id = b.request_source_id AND q.benchmark_id = b.request_benchmark_id
WHERE q.run_id = run
ORDER BY b.benchmark, q.request_id
LIMIT CASE WHEN top = 0 THEN 9223372036854775807 ELSE top END
