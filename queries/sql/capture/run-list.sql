-- run-list v6: Runs that match, newest first, each with the stage that takes most of its time by median passes.
-- grain: one run
-- key: run_id
-- params:
--   search VARCHAR = NULL: only runs whose name, command, tags or GPU contain this text, whatever its case
--   tag VARCHAR = NULL: only runs with this tag, key=value; a run must have all tags of a list separated by line breaks
--   workload VARCHAR = NULL: only runs of this workload, by its key or command
--   gpu VARCHAR = NULL: only runs on a GPU whose name contains this text, whatever its case
--   since VARCHAR = NULL: only runs stored at or after this time, as 2026-11-26 or 2026-11-26 08:00:00, UTC
--   until VARCHAR = NULL: only runs stored before this time
--   before VARCHAR = NULL: only runs that are listed after this one, CREATED_AT/RUN_ID, whether or not it still exists: the next page
--   top BIGINT = 50: maximum runs; 0 for all
-- columns:
--   run: run name
--   created_at: time of the ingest, UTC
--   started_at: start of the capture, UTC; NULL when unknown
--   stage: stage that takes most time, its median pass times its passes; NULL for runs without stages
--   stage_ns: median GPU span of one pass of that stage
--   token_time_ns: median time of an output token of a sequence: GPU span of a decode pass for each of its steps; of a run without a
--     timeline that has one benchmark of an engine, TPOT as its client measured it; NULL when unknown
--   first_token_ns: median GPU span of a prefill pass, or TTFT of that benchmark; NULL when unknown
--   kinds: what its files are of: {sources}
--   gpus: number of GPUs that ran work; without a timeline, of those that its sources name; NULL when unknown
--   device: GPU name; several names when the GPUs differ; NULL when no source has it
--   tags: tags as key=value
--   workload: key of its workload, its command, its tag workload, or the model that its load generator asked; NULL when unknown
--   host: host name of the captured machine; NULL when no source has it
--   command: profiled command line; NULL when no source has it
--   run_id: run id

WITH r AS (
    SELECT
        r.run_id,
        r.name,
        r.created_at,
        r.started_at,
        r.host,
        r.command,
        coalesce(
            c.workload_key,
            r.command,
            (SELECT g.value FROM run_tag g WHERE g.run_id = r.run_id AND g.key = 'workload'),
            (SELECT min(b.model) FROM serving_benchmark b WHERE b.run_id = r.run_id)
        ) AS workload
    FROM run r
    LEFT JOIN capture c
        ON c.run_id = r.run_id AND c.source_id = (SELECT min(x.source_id) FROM capture x WHERE x.run_id = r.run_id)
    WHERE r.run_id IN (SELECT t.run_id FROM _tagged_run(tag := tag) t)
        AND (
            since IS NULL
            OR r.created_at
                >= coalesce(
                    CASE WHEN isfinite(try_cast(since AS TIMESTAMP)) THEN try_cast(since AS TIMESTAMP) END,
                    error('ARGUMENT: --since ' || since || ' is no time: write 2026-11-26 or 2026-11-26 08:00:00')
                )
        )
        AND (
            until IS NULL
            OR r.created_at
                < coalesce(
                    CASE WHEN isfinite(try_cast(until AS TIMESTAMP)) THEN try_cast(until AS TIMESTAMP) END,
                    error('ARGUMENT: --until ' || until || ' is no time: write 2026-11-26 or 2026-11-26 08:00:00')
                )
        )
        AND (
            before IS NULL
            OR CASE
                WHEN isfinite(try_cast(split_part(before, '/', 1) AS TIMESTAMP)) IS NOT TRUE
                    OR try_cast(split_part(before, '/', 2) AS UUID) IS NULL
                    THEN error(
                        'ARGUMENT: --before '
                            || before
                            || ' is no place in the list: write CREATED_AT/RUN_ID of the last run before it'
                    )
                ELSE (r.created_at, r.run_id)
                    < (try_cast(split_part(before, '/', 1) AS TIMESTAMP), try_cast(split_part(before, '/', 2) AS UUID))
            END
        )
), t AS (
    SELECT
        x.run_id,
        string_agg(x.key || '=' || x.value, ' ' ORDER BY x.key) AS tags
    FROM run_tag x
    GROUP BY x.run_id
), f AS (
    SELECT
        r.run_id,
        r.name,
        r.created_at,
        r.started_at,
        r.host,
        r.command,
        r.workload,
        g.gpu_count AS gpus,
        g.device,
        t.tags
    FROM r LEFT JOIN _run_gpu g ON g.run_id = r.run_id LEFT JOIN t ON t.run_id = r.run_id
    WHERE (search IS NULL OR contains(lower(concat_ws(' ', r.name, r.command, t.tags, g.device)), lower(search)))
        AND (gpu IS NULL OR contains(lower(g.device), lower(gpu)))
        AND (workload IS NULL OR r.workload = workload)
    ORDER BY r.created_at DESC, r.run_id DESC
    LIMIT CASE WHEN top > 0 THEN top END
), k AS (
    SELECT
        s.run_id,
        string_agg(DISTINCT s.kind, ' ' ORDER BY s.kind) AS kinds
    FROM source s
    WHERE s.run_id IN (SELECT f.run_id FROM f)
    GROUP BY s.run_id
), p AS (
    SELECT
        p.run_id,
        p.stage,
        median(p.gpu_span_ns)::DOUBLE * count(p.gpu_span_ns) AS all_ns,
        median(p.gpu_span_ns)::DOUBLE AS stage_ns
    FROM _whole_pass(runs := (SELECT list(f.run_id) FROM f)) p
    GROUP BY p.run_id, p.stage
    HAVING sum(p.gpu_span_ns) IS NOT NULL
), m AS (
    SELECT
        p.run_id,
        arg_max(p.stage, (p.all_ns, p.stage)) AS stage,
        arg_max(p.stage_ns, (p.all_ns, p.stage)) AS stage_ns
    FROM p
    GROUP BY p.run_id
)
SELECT
    f.name AS run,
    f.created_at,
    f.started_at,
    m.stage,
    m.stage_ns,
    o.token_time_ns,
    o.first_token_ns,
    k.kinds,
    f.gpus,
    f.device,
    f.tags,
    f.workload,
    f.host,
    f.command,
    f.run_id::VARCHAR AS run_id
FROM f
LEFT JOIN k ON k.run_id = f.run_id
LEFT JOIN m ON m.run_id = f.run_id
LEFT JOIN _run_token(runs := (SELECT list(f.run_id) FROM f)) o ON o.run_id = f.run_id
ORDER BY f.created_at DESC, f.run_id DESC
