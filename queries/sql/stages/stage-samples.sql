-- stage-samples v5: Each stage pass with its times and where GPU time went: the samples that comparisons of runs use. A run without stage
--     passes has one row per source for all its device work.
-- grain: one pass of a stage, warm-up included
-- key: source_id, range_id
-- notes: workload accounting launch
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
-- columns:
--   stage: the stage, by stage_rule; NULL for all device work of a source
--   pass: pass number within the stage, source and process, as in passes, from 1
--   repeat: repeat of the workload, from 1, when prof capture ran it several times; else 1
--   source_id: the source
--   pid: process; NULL for all device work of a source
--   range_id: the range; 0 for all device work of a source
--   is_warmup: whether stages excludes it
--   prompt_token_count: tokens of all prompts it processed; NULL when unknown
--   decode_token_count: tokens it decoded, all sequences; NULL when unknown
--   sequence_count: sequences it processed; NULL when unknown
--   step_count: forward passes that decode; NULL when unknown
--   cpu_ns: CPU time; NULL when it never ended, and for all device work of a source
--   interval_ns: CPU start time to that of the next pass of its stage; NULL where that does not follow directly: another pass of its
--     process lies between, only one of the two is warm-up, or it is of another repeat
--   gpu_span_ns: GPU span: first start to last end of its device work; NULL without device work
--   gpu_busy_ns: GPU busy time: union of its device intervals, summed over GPUs
--   gpu_sum_ns: sum of the durations of its kernels, copies, fills and graph replays
--   kernel_count: number of kernels; NULL where graphs were traced as a whole, without their kernels
--   device_count: GPUs that run its work
--   time_ns: GPU span on each GPU, summed over GPUs: the next columns add up to it; NULL without device work
--   kernel_ns: kernels of the pass ran
--   graph_ns: graph replays of the pass, traced as a whole, ran, and none of its kernels
--   copy_ns: copies and fills of the pass ran, and neither its kernels nor its graph replays
--   other_ns: only work of other ranges ran
{{- range .Idle}}
--   {{.Column}}: idle, {{.Meaning}}
{{- end}}
--   lost_count: launches without work, and pieces of work whose record cannot be right, by losses: GPU times are unknown where there are
--     any; of all device work of a source the losses of that

-- The run is looked for twice and not in each table, as that is what planning this takes longest for: filters reach the others through
-- joins.
SELECT
    p.stage,
    p.pass_id AS pass,
    p.repeat_id AS repeat,
    p.source_id,
    p.pid,
    p.range_id,
    p.is_warmup,
    p.prompt_token_count,
    p.decode_token_count,
    p.sequence_count,
    p.step_count,
    p.cpu_ns,
    p.interval_ns,
    CASE WHEN p.range_id = 0 THEN d.span_ns ELSE p.gpu_span_ns END AS gpu_span_ns,
    CASE WHEN p.range_id = 0 THEN d.kernel_ns + d.graph_ns + d.copy_ns ELSE p.gpu_busy_ns END AS gpu_busy_ns,
    p.gpu_sum_ns,
    p.kernel_count,
    coalesce(d.device_count, 0) AS device_count,
    d.time_ns,
    d.kernel_ns,
    d.graph_ns,
    d.copy_ns,
    d.other_ns,
    {{range .Idle}}CASE WHEN d.time_ns IS NOT NULL THEN coalesce(i.{{.Column}}, 0) END AS {{.Column}},
    {{end}}p.lost_count
FROM (
    SELECT
        s.run_id,
        s.is_counted,
        s.stage,
        s.pass_id,
        s.repeat_id,
        s.source_id,
        s.pid,
        s.range_id,
        s.is_warmup,
        s.prompt_token_count,
        s.decode_token_count,
        s.sequence_count,
        s.step_count,
        s.cpu_ns,
        s.interval_ns,
        s.gpu_span_ns,
        s.gpu_busy_ns,
        s.gpu_sum_ns,
        CASE WHEN s.graph_count = 0 THEN s.kernel_count END AS kernel_count,
        s.lost_count
    FROM stage_pass s
    UNION ALL -- its span and busy time are those of its GPUs
    SELECT
        w.run_id,
        w.is_counted,
        NULL,
        1,
        w.repeat_id,
        w.source_id,
        NULL,
        0,
        false,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        sum(w.sum_ns)::BIGINT,
        CASE
            WHEN NOT bool_or(w.kind = 'graph')
                THEN coalesce(sum(CASE WHEN w.kind = 'kernel' THEN w.launch_count END), 0)
        END::BIGINT,
        (
            SELECT coalesce(sum(coalesce(l.item_count, 1)), 0)
            FROM loss l
            WHERE l.run_id = run AND l.source_id = w.source_id
        )::BIGINT
    FROM work_sum w
    WHERE NOT EXISTS (SELECT 1 FROM stage_pass s WHERE s.run_id = run AND s.is_counted)
    GROUP BY w.run_id, w.is_counted, w.repeat_id, w.source_id
) p
LEFT JOIN (
    SELECT
        d.run_id,
        d.source_id,
        coalesce(d.range_id, 0) AS range_id,
        count(*) AS device_count,
        max(d.end_ns) - min(d.start_ns) AS span_ns,
        sum(d.end_ns - d.start_ns)::BIGINT AS time_ns,
        sum(d.kernel_ns)::BIGINT AS kernel_ns,
        sum(d.graph_ns)::BIGINT AS graph_ns,
        sum(d.copy_ns)::BIGINT AS copy_ns,
        sum(d.other_ns)::BIGINT AS other_ns
    FROM device_time d
    GROUP BY d.run_id, d.source_id, coalesce(d.range_id, 0)
) d
    ON d.run_id = p.run_id
    AND d.source_id = p.source_id
    AND d.range_id = p.range_id
    AND (p.lost_count = 0 OR p.range_id = 0)
LEFT JOIN (
    SELECT
        i.source_id,
        i.range_id{{range .Idle}},
        sum(i.{{.Column}})::BIGINT AS {{.Column}}{{end}}
    FROM _idle_time(run) i
    GROUP BY i.source_id, i.range_id
) i ON i.source_id = d.source_id AND i.range_id = d.range_id
WHERE p.run_id = run AND p.is_counted AND (stage IS NULL OR p.stage = stage)
ORDER BY array_position(['prefill', 'decode'], p.stage) NULLS LAST, p.stage, p.source_id, p.pid, p.pass_id
