-- served: The benchmarks of a serving engine, each once: a file of requests that has those of a benchmark whose summary the run has too is
--     no other one.
-- grain: one benchmark
-- key: benchmark
-- needs: serving_benchmark
-- columns:
--   benchmark BIGINT: 1, 2, ... in the order of files and in each
--   source_id INTEGER: the file that its figures are of: the summary, or the requests without one
--   benchmark_id INTEGER: the benchmark of serving_benchmark in that
--   request_source_id INTEGER: the file with its requests, where any has them; NULL where their times are not those of the summary
--   request_benchmark_id INTEGER: the benchmark of serving_benchmark in that; likewise

-- Means of times by a clock of nanoseconds are equal only of the same requests: as many of them, and the same time to their end, or to
-- their first token. Where all failed there are no times, and as many failed.
WITH b AS (
    SELECT
        b.source_id,
        b.benchmark_id,
        b.tool,
        b.completed_count,
        b.failed_count,
        s.form LIKE '%-requests' AS is_requests,
        e.mean_ns AS e2e_ns,
        t.mean_ns AS ttft_ns
    FROM serving_benchmark b
    JOIN source s ON s.run_id = $run AND s.source_id = b.source_id
    LEFT JOIN serving_benchmark_latency e
        ON e.run_id = $run AND e.source_id = b.source_id AND e.benchmark_id = b.benchmark_id AND e.metric = 'e2e'
    LEFT JOIN serving_benchmark_latency t
        ON t.run_id = $run AND t.source_id = b.source_id AND t.benchmark_id = b.benchmark_id AND t.metric = 'ttft'
    WHERE b.run_id = $run
), near AS (
    SELECT
        q.source_id AS request_source_id,
        q.benchmark_id AS request_benchmark_id,
        b.source_id,
        b.benchmark_id,
        abs(q.e2e_ns - b.e2e_ns) <= 1e-9 * b.e2e_ns AS is_e2e,
        abs(q.ttft_ns - b.ttft_ns) <= 1e-9 * b.ttft_ns AS is_ttft,
        b.completed_count = 0 AND b.failed_count = q.failed_count AS are_none
    FROM b q
    JOIN b ON q.is_requests AND NOT b.is_requests AND b.tool = q.tool AND b.completed_count = q.completed_count
), pair AS ( -- of several summaries the first
    SELECT
        n.request_source_id,
        n.request_benchmark_id,
        n.source_id,
        n.benchmark_id,
        coalesce(n.is_e2e, true) AND coalesce(n.is_ttft, true) AS is_whole
    FROM near n
    WHERE n.is_e2e OR n.is_ttft OR n.are_none
    QUALIFY row_number() OVER (
            PARTITION BY n.request_source_id, n.request_benchmark_id
            ORDER BY n.source_id, n.benchmark_id
        )
            = 1
), mate AS ( -- of several files of requests the first that agrees
    SELECT p.source_id, p.benchmark_id, p.request_source_id, p.request_benchmark_id, p.is_whole
    FROM pair p
    QUALIFY row_number() OVER (
            PARTITION BY p.source_id, p.benchmark_id
            ORDER BY p.is_whole DESC, p.request_source_id, p.request_benchmark_id
        )
            = 1
)
SELECT
    row_number() OVER (ORDER BY b.source_id, b.benchmark_id) AS benchmark,
    b.source_id,
    b.benchmark_id,
    CASE WHEN m.is_whole THEN m.request_source_id WHEN m.is_whole IS NULL THEN b.source_id END AS request_source_id,
    CASE
        WHEN m.is_whole THEN m.request_benchmark_id
        WHEN m.is_whole IS NULL THEN b.benchmark_id
    END AS request_benchmark_id
FROM b
LEFT JOIN mate m ON m.source_id = b.source_id AND m.benchmark_id = b.benchmark_id
ANTI JOIN pair p ON p.request_source_id = b.source_id AND p.request_benchmark_id = b.benchmark_id
