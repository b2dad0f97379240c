-- pass-accounting v3: Where GPU time went in each stage pass, warm-up included: accounting per pass.
-- grain: one outermost range of a stage on one GPU that runs its work
-- key: range_id, device
-- notes: timelines workload accounting launch range recorded
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   stage: the stage, by stage_rule
--   pass: pass number within the stage, source and process, as in passes, from 1
--   device: GPU
--   span_ns: GPU span: first start to last end of its device work on the GPU; busy_ns, other_ns and idle_ns add up to it
--   busy_ratio: busy_ns as a share of the span; NULL when the span is 0
--   launch_bound_ratio: launch_bound_ns as a share of the span; NULL when the span is 0
--   busy_ns: work of the pass ran: the next five columns add up to it
--   compute_ns: kernels other than collectives ran, and no collective
--   collective_overlapped_ns: a collective and another kernel ran
--   collective_exposed_ns: a collective ran, and no other kernel
--   graph_ns: graph replays traced as a whole ran, and no kernel
--   copy_ns: copies and fills ran, and neither kernels nor graph replays
--   other_ns: only work of other ranges ran
--   idle_ns: no work of the source ran. By what the thread that launches the next work on the GPU did, in any process:
--     {{range $i, $c := .Causes}}{{if $i}}, {{end}}{{.Column}}{{end}} add up to it
{{- range .Causes}}
--   {{.Column}}: idle, {{.Meaning}}
{{- end}}
{{- range .Split}}
--   {{.Column}}: idle, {{.Meaning}}
{{- end}}
--   gap_count: idle gaps
--   is_warmup: whether stages and accounting exclude it
--   start_ns: start of its first device work on the GPU, from the start of the source
--   source_id: the source
--   pid: process
--   range_id: the range

WITH d AS (
    SELECT
        d.stage,
        d.pass_id,
        d.device_id,
        d.span_ns,
        d.compute_ns + d.collective_overlapped_ns + d.collective_exposed_ns + d.graph_ns + d.copy_ns AS busy_ns,
        d.compute_ns,
        d.collective_overlapped_ns,
        d.collective_exposed_ns,
        d.graph_ns,
        d.copy_ns,
        d.other_ns,
        coalesce(i.idle_ns, 0) AS idle_ns{{range .Causes}},
        coalesce(i.{{.Column}}, 0) AS {{.Column}}{{end}}{{range .Split}},
        coalesce(i.{{.Column}}, 0) AS {{.Column}}{{end}},
        d.gap_count,
        d.is_warmup,
        d.start_ns,
        d.source_id,
        d.pid,
        d.range_id
    FROM device_part d
    LEFT JOIN _idle_time(run) i ON i.source_id = d.source_id AND i.device_id = d.device_id AND i.range_id = d.range_id
    WHERE d.run_id = run
        AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND d.range_id IS NOT NULL
        AND (stage IS NULL OR d.stage = stage)
        AND (device IS NULL OR d.device_id = device)
)
SELECT
    d.stage,
    d.pass_id AS pass,
    d.device_id AS device,
    d.span_ns,
    d.busy_ns / nullif(d.span_ns, 0) AS busy_ratio,
    d.launch_bound_ns / nullif(d.span_ns, 0) AS launch_bound_ratio,
    d.busy_ns,
    d.compute_ns,
    d.collective_overlapped_ns,
    d.collective_exposed_ns,
    d.graph_ns,
    d.copy_ns,
    d.other_ns,
    d.idle_ns{{range .Causes}},
    d.{{.Column}}{{end}}{{range .Split}},
    d.{{.Column}}{{end}},
    d.gap_count,
    d.is_warmup,
    d.start_ns,
    d.source_id,
    d.pid,
    d.range_id
FROM d
ORDER BY
    d.source_id,
    min(d.start_ns) OVER (PARTITION BY d.source_id, d.stage, d.pass_id),
    d.stage,
    d.pass_id,
    d.device_id,
    d.start_ns,
    d.range_id
