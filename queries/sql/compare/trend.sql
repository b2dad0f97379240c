-- trend v3: A stage's time or rate over the runs of one workload, as prof trend shows it, from figures stored at ingest.
-- grain: one run and stage
-- key: run_id, stage
-- params:
--   workload VARCHAR = NULL: workload_key, unique prefix of one, command, or any reference to a run of the workload; NULL: the workload of
--     the latest run that has one and device work
--   tag VARCHAR = NULL: only runs with this tag, key=value; a run must have all tags of a list separated by line breaks
--   stage VARCHAR = NULL: only this stage; (run) for runs without stages
--   metric VARCHAR = 'gpu_span_ns': {trend measures}: by pass
-- columns:
--   run: run name
--   stage: the stage; (run) for all device work of a run without stages
--   value: the metric of the median measured pass, robust to one pass in which the CPU stalls: ratios and rates of the pass of median GPU
--     span; NULL when unknown
--   mean: mean over the measured passes; NULL for ratios and rates
--   std: sample standard deviation (n-1) over the measured passes; NULL for a single one
--   passes: measured passes that have the metric; for a run without stages, its captures
--   at: start of its capture, UTC; of its ingest when unknown
--   commit: git commit of the working directory; NULL, as the next two, when unknown
--   branch: git branch
--   is_dirty: whether there were uncommitted changes
--   gpu: GPU name; several names when the GPUs differ; NULL when no source has it
--   driver: GPU driver version; NULL when no source has it
--   tool: tool that captured the run: {timelines}
--   tool_version: version of the tool; NULL when the capture has none
--   prompt_token_count: prompt tokens per pass; NULL when unknown or not the same in all
--   decode_token_count: decoded tokens per pass; NULL when unknown or not the same in all
--   sequence_count: sequences per pass; NULL when unknown or not the same in all
--   is_varying: whether tokens or sequences differ between its passes
--   host: host name of the captured machine; NULL when no source has it
--   prof_version: prof version that ingested it
--   workload: workload_key, or the command line for a run that prof did not capture, or its tag workload without one, or the only model
--     that its load generators asked
--   run_id: run id

-- Long: stages, runs without stages, and figures at today's peaks come from tables of their own.
WITH w AS (
    SELECT w.run_id, w.run, w.at, w.workload, w.commit, w.branch, w.is_dirty, w.host, w.prof_version
    FROM _workload_run(workload := workload, tag := tag) w
), whole AS ( -- runs without passes of stages: one sample a capture
    SELECT
        k.run_id,
        k.source_id,
        sum(k.sum_ns)::BIGINT AS gpu_sum_ns,
        (max(k.end_ns) - min(k.start_ns))::BIGINT AS gpu_span_ns,
        sum(k.busy_ns)::BIGINT AS gpu_busy_ns
    FROM (
        SELECT
            k.run_id,
            k.source_id,
            k.is_counted,
            k.sum_ns,
            NULL AS start_ns,
            NULL AS end_ns,
            NULL AS busy_ns
        FROM work_sum k
        UNION ALL
        SELECT
            d.run_id,
            d.source_id,
            NULL,
            NULL,
            d.start_ns,
            d.end_ns,
            d.kernel_ns + d.graph_ns + d.copy_ns
        FROM device_time d
        WHERE d.range_id IS NULL
    ) k
    WHERE k.run_id IN (
            SELECT w.run_id
            FROM w
            WHERE w.run_id NOT IN (SELECT x.run_id FROM stage_pass x WHERE x.is_counted)
        )
    GROUP BY k.run_id, k.source_id
    HAVING bool_or(k.is_counted)
), p AS (
    SELECT
        s.run_id,
        s.source_id,
        s.range_id,
        s.stage,
        s.cpu_ns,
        s.gpu_span_ns,
        s.gpu_busy_ns,
        s.gpu_sum_ns,
        s.prompt_token_count,
        s.decode_token_count,
        s.sequence_count
    FROM _whole_pass(runs := (SELECT list(w.run_id) FROM w)) s
    UNION ALL
    SELECT
        k.run_id,
        k.source_id,
        NULL,
        '(run)',
        NULL,
        k.gpu_span_ns,
        k.gpu_busy_ns,
        k.gpu_sum_ns,
        NULL,
        NULL,
        NULL
    FROM whole k
), v AS (
    SELECT
        p.run_id,
        p.source_id,
        p.range_id,
        p.stage,
        p.prompt_token_count,
        p.decode_token_count,
        p.sequence_count,
        CASE WHEN p.gpu_span_ns > 0 THEN p.gpu_span_ns END AS span_ns,
        CASE metric
            WHEN 'gpu_span_ns' THEN p.gpu_span_ns
            WHEN 'gpu_busy_ns' THEN p.gpu_busy_ns
            WHEN 'gpu_sum_ns' THEN p.gpu_sum_ns
            WHEN 'cpu_ns' THEN p.cpu_ns
            WHEN 'mfu_ratio' THEN NULL
            WHEN 'mbu_ratio' THEN NULL
            WHEN 'tokens_per_s' THEN NULL
            ELSE error(
                'ARGUMENT: --metric is {trend measures}'
            )
        END AS value
    FROM p
    WHERE stage IS NULL OR p.stage = stage
), g AS (
    SELECT
        v.run_id,
        v.stage,
        min(v.source_id) AS source_id,
        count(v.value) AS passes,
        count(*) AS all_passes,
        median(v.value)::DOUBLE AS value,
        avg(v.value) AS mean,
        _std(v.value) AS std,
        CASE
            WHEN metric = 'tokens_per_s' AND count(v.span_ns + v.prompt_token_count + v.decode_token_count) = count(*)
                THEN _median_pass(v.prompt_token_count + v.decode_token_count, v.span_ns, v.range_id)
                    / (median(v.span_ns) / 1e9)
        END AS token_rate,
        CASE
            WHEN min(v.prompt_token_count) = max(v.prompt_token_count) THEN min(v.prompt_token_count)
        END AS prompt_token_count,
        CASE
            WHEN min(v.decode_token_count) = max(v.decode_token_count) THEN min(v.decode_token_count)
        END AS decode_token_count,
        CASE WHEN min(v.sequence_count) = max(v.sequence_count) THEN min(v.sequence_count) END AS sequence_count,
        metric <> 'cpu_ns'
        AND EXISTS (
            SELECT 1
            FROM loss l
            WHERE l.run_id = v.run_id AND (v.stage = '(run)' OR NOT l.is_cut AND coalesce(l.stage = v.stage, true))
        ) AS is_lost,
        coalesce(
            min(v.prompt_token_count) <> max(v.prompt_token_count)
                OR min(v.decode_token_count) <> max(v.decode_token_count)
                OR min(v.sequence_count) <> max(v.sequence_count),
            false
        ) AS is_varying
    FROM v
    GROUP BY v.run_id, v.stage
), u AS ( -- at today's peaks
    SELECT
        f.run_id,
        f.stage,
        CASE metric WHEN 'mfu_ratio' THEN f.mfu_ratio WHEN 'mbu_ratio' THEN f.mbu_ratio END AS ratio
    FROM _stage_ratio f
    WHERE f.run_id IN (SELECT w.run_id FROM w)
)
SELECT
    w.run,
    g.stage,
    CASE WHEN NOT g.is_lost THEN coalesce(g.token_rate, u.ratio, g.value) END AS value,
    CASE WHEN NOT g.is_lost THEN g.mean END AS mean,
    CASE WHEN NOT g.is_lost THEN g.std END AS std,
    CASE WHEN coalesce(g.token_rate, u.ratio) IS NULL THEN g.passes ELSE g.all_passes END AS passes,
    w.at,
    w.commit,
    w.branch,
    w.is_dirty,
    t.gpu,
    t.driver,
    s.kind AS tool,
    s.tool_version,
    g.prompt_token_count,
    g.decode_token_count,
    g.sequence_count,
    g.is_varying,
    w.host,
    w.prof_version,
    w.workload,
    w.run_id
FROM g
JOIN w ON w.run_id = g.run_id
LEFT JOIN source s ON s.run_id = g.run_id AND s.source_id = g.source_id
LEFT JOIN run_trait t ON t.run_id = g.run_id
LEFT JOIN u ON u.run_id = g.run_id AND u.stage = g.stage
ORDER BY w.at, w.run_id, array_position(['prefill', 'decode'], g.stage) NULLS LAST, g.stage
