-- trend-serving v1: A latency or throughput of a serving engine over the runs of one workload, as load generators measured it at the
--     client, with the load of each benchmark. prof trend compares those under the same load.
-- grain: one benchmark of a run
-- key: run_id, benchmark
-- params:
--   workload VARCHAR = NULL: workload_key, unique prefix of one, command, or any reference to a run of the workload; NULL: the workload of
--     the latest run that has one and a result of a load generator
--   tag VARCHAR = NULL: only runs with this tag, key=value; a run must have all tags of a list separated by line breaks
--   metric VARCHAR = 'tpot_p99_ns': {serving measures}
-- columns:
--   run: run name
--   benchmark: the benchmark of serving
--   value: the metric; NULL when the load generator did not report it
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
--   at: start of its capture, UTC; of its ingest when unknown
--   commit: git commit of the working directory
--   branch: git branch
--   is_dirty: whether there were uncommitted changes
--   gpu: GPU name; several names when the GPUs differ
--   driver: GPU driver version
--   host: host name of the captured machine
--   prof_version: prof version that ingested it
--   workload: what its workload is known by
--   run_id: run id

WITH w AS (
    SELECT w.run_id, w.run, w.at, w.workload, w.commit, w.branch, w.is_dirty, w.host, w.prof_version
    FROM _workload_run(workload := workload, tag := tag, is_served := true) w
), b AS (
    SELECT
        d.benchmark,
        b.run_id,
        b.source_id,
        b.benchmark_id,
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
        b.total_tokens_per_s
    FROM served d
    JOIN serving_benchmark b ON b.run_id = d.run_id AND b.source_id = d.source_id AND b.benchmark_id = d.benchmark_id
    WHERE d.run_id IN (SELECT w.run_id FROM w)
)
SELECT
    w.run,
    b.benchmark,
    CASE
        WHEN metric = 'requests_per_s' THEN b.requests_per_s
        WHEN metric = 'output_tokens_per_s' THEN b.output_tokens_per_s
        WHEN metric = 'total_tokens_per_s' THEN b.total_tokens_per_s
        WHEN metric NOT IN ({'serving measures'})
            THEN error('ARGUMENT: --metric is {serving measures}')
        ELSE CASE split_part(metric, '_', 2)
            WHEN 'mean' THEN l.mean_ns
            WHEN 'p50' THEN l.p50_ns
            WHEN 'p90' THEN l.p90_ns
            WHEN 'p99' THEN l.p99_ns
        END
    END AS value,
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
    w.at,
    w.commit,
    w.branch,
    w.is_dirty,
    t.gpu,
    t.driver,
    w.host,
    w.prof_version,
    w.workload,
    w.run_id
FROM b
JOIN w ON w.run_id = b.run_id
LEFT JOIN run_trait t ON t.run_id = b.run_id
LEFT JOIN serving_benchmark_latency l
    ON l.run_id = b.run_id
    AND l.source_id = b.source_id
    AND l.benchmark_id = b.benchmark_id
    AND l.metric = split_part(metric, '_', 1)
ORDER BY w.at, w.run_id, b.benchmark
