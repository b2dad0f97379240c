-- accounting v4: Where GPU time went, by stage, kind of work and cause of idle time: disjoint parts that add up to the GPU span (first
--     start to last end of device work).
-- grain: one part of one stage on one GPU
-- key: stage, device, part
-- notes: pass throttle timelines accounting launch stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (run) for the whole capture
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   stage: the stage, by stage_rule, warm-up passes excluded; (run) for all work of the capture on the GPU
--   device: GPU
--   part: where the time went: {{range $i, $p := .Work}}{{if $i}}, {{end}}{{.Name}} ({{.Meaning}}){{end}}. Idle time is classified by what
--     the thread that launches the next work on the GPU did, in any process or stage: {{range $i, $p := .Idle}}{{if $i}}, {{end}}{{.Name}}
--     ({{.Meaning}}){{end}}. Queries of events and streams count as time outside CUDA
--   kind: busy, other, or the cause of idle time: {causes}; stage_part has the kind of each part
--   total_ns: time of the part, summed over passes; empty parts have no row
--   share_ratio: total_ns as a share of span_total_ns: over all passes
--   mean_ns: mean over the passes; for (run), over its sources
--   passes: passes with work on the GPU; for (run), sources
--   span_total_ns: sum of the GPU spans of the passes: the parts add up to it
--   std_ns: sample standard deviation (n-1) of the part over the passes; NULL for a single one
--   min_ns: least in one pass
--   max_ns: most in one pass
--   median_pass_ns: in the median pass by the GPU span on this GPU (of an even number the mean of the two in the middle); for (run),
--     total_ns
--   median_pass_span_ns: GPU span of that pass, the median: the parts add up to it; for (run), span_total_ns

WITH d AS (
    SELECT
        d.stage,
        d.device_id AS device,
        d.source_id,
        d.range_id,
        d.span_ns{{range .Work}},
        d.{{.Column}}{{end}}
    FROM device_part d
    WHERE d.run_id = run
        AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND NOT d.is_warmup
        AND (stage IS NULL OR d.stage = stage)
        AND (device IS NULL OR d.device_id = device)
), p AS (
    SELECT
        d.stage,
        d.device,
        d.span_ns,
        s.place,
        s.part,
        s.kind,
        d.range_id,
        CASE s.part {{range .Work}} WHEN {{quote .Name}} THEN d.{{.Column}} {{end}} ELSE coalesce(i.ns, 0) END AS ns
    FROM d
    CROSS JOIN stage_part s
    LEFT JOIN idle_part i
        ON i.run_id = run
        AND i.source_id = d.source_id
        AND i.device_id = d.device
        AND i.range_id IS NOT DISTINCT FROM d.range_id
        AND i.part = s.part
), s AS (
    SELECT
        p.stage,
        p.device,
        p.place,
        p.part,
        p.kind,
        sum(p.ns)::BIGINT AS total_ns,
        avg(p.ns) AS mean_ns,
        count(*) AS passes,
        sum(p.span_ns)::BIGINT AS span_total_ns,
        _std(p.ns) AS std_ns,
        min(p.ns) AS min_ns,
        max(p.ns) AS max_ns,
        CASE
            WHEN p.stage = '(run)' THEN sum(p.ns)
            ELSE _median_pass(p.ns, p.span_ns, p.range_id)
        END AS median_pass_ns,
        CASE WHEN p.stage = '(run)' THEN sum(p.span_ns) ELSE median(p.span_ns) END AS median_pass_span_ns
    FROM p
    GROUP BY p.stage, p.device, p.place, p.part, p.kind
)
SELECT
    s.stage,
    s.device,
    s.part,
    s.kind,
    s.total_ns,
    s.total_ns / s.span_total_ns AS share_ratio,
    s.mean_ns,
    s.passes,
    s.span_total_ns,
    s.std_ns,
    s.min_ns,
    s.max_ns,
    s.median_pass_ns,
    s.median_pass_span_ns
FROM s
WHERE s.total_ns > 0
ORDER BY array_position(['(run)', 'prefill', 'decode'], s.stage) NULLS LAST, s.stage, s.device, s.place
