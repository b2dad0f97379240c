-- runs v5: All runs in the warehouse, newest first.
-- grain: one run
-- key: run
-- columns:
--   run: run name
--   created_at: time of the ingest, UTC, to the second
--   sources: number of ingested files
--   rows: rows stored
--   token_time_ns: median time of an output token of a sequence: GPU span of a decode pass for each of its steps; of a run without a
--     timeline that has one benchmark of an engine, TPOT as its client measured it; NULL when unknown
--   first_token_ns: median GPU span of a prefill pass, or TTFT of that benchmark; NULL when unknown
--   size_bytes: total size of these files
--   kinds: what its files are of: {sources}
--   gpus: number of GPUs that ran work; without a timeline, of those that its sources name; NULL when unknown
--   device: GPU name; several names when the GPUs differ; NULL when no source has it
--   tags: tags as key=value
--   command: profiled command line; NULL when no source has it
--   run_id: run id

WITH s AS (
    SELECT
        x.run_id,
        count(*) AS sources,
        sum(x.row_count)::BIGINT AS rows,
        sum(x.size_bytes)::BIGINT AS size_bytes,
        string_agg(DISTINCT x.kind, ' ' ORDER BY x.kind) AS kinds
    FROM source x
    GROUP BY x.run_id
), t AS (
    SELECT
        x.run_id,
        string_agg(x.key || '=' || x.value, ' ' ORDER BY x.key) AS tags
    FROM run_tag x
    GROUP BY x.run_id
)
SELECT
    r.name AS run,
    date_trunc('second', r.created_at) AS created_at,
    coalesce(s.sources, 0) AS sources,
    coalesce(s.rows, 0) AS rows,
    k.token_time_ns,
    k.first_token_ns,
    coalesce(s.size_bytes, 0) AS size_bytes,
    s.kinds,
    g.gpu_count AS gpus,
    g.device,
    t.tags,
    r.command,
    r.run_id::VARCHAR AS run_id
FROM run r
LEFT JOIN s ON s.run_id = r.run_id
LEFT JOIN _run_gpu g ON g.run_id = r.run_id
LEFT JOIN t ON t.run_id = r.run_id
LEFT JOIN _run_token() k ON k.run_id = r.run_id
ORDER BY r.created_at DESC, r.run_id DESC
