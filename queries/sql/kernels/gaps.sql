-- gaps v5: Idle gaps of the GPUs, grouped by the work before, the work after and the stage that launched it, with what the launching thread
--     did meanwhile, in any process.
-- grain: one stage, place, work before and work after
-- key: stage, place, before, after
-- notes: timelines accounting launch left-gaps
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only gaps before work of this stage; (none) for gaps before work outside every stage or without a captured launch
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside passes
--   cause VARCHAR = NULL: only gaps with this as the largest part, as in the column cause; launch-bound for launch, launch-delay and
--     launch-latency
--   place VARCHAR = NULL: only gaps in-pass, between-passes or outside
--   {source}
-- columns:
--   rank: rank by total time
--   total_ns: total gap time; with --warmup all rows of all stages together are the idle time of (run) in accounting
--   cause: largest part of the gap time, as in accounting: {idle parts}
--   before: work that ended last before the gap: kernel, copy, fill or graph replay; (any) beyond the first 200,000 patterns of a source,
--     which are not kept separately
--   after: work that started at its end: kernel, copy, fill or graph replay; (any) beyond the first 200,000 patterns of a source
--   stage: stage that launched the work after; (none) outside every stage, or when its launch was not captured
--     (unknown_ns)
--   place: in-pass; between-passes: from the last work of one to the first of the next, of the same stage; or outside, such as before the
--     first pass of a stage
--   gap_count: gaps
--   idle_ratio: total_ns as a share of all rows, before top, cause and place apply
--   mean_ns: mean gap
--   max_ns: longest gap
{{- range .Idle}}
--   {{.Column}}: idle, {{.Meaning}}
{{- end}}

WITH p AS (
    SELECT
        p.source_id,
        p.pattern_id{{range .Idle}},
        coalesce(sum(p.ns) FILTER (p.part = {{quote .Name}}), 0)::BIGINT AS {{.Column}}{{end}}
    FROM gap_sum_part p
    WHERE p.run_id = run
    GROUP BY p.source_id, p.pattern_id
), g AS (
    SELECT
        g.stage,
        g.place,
        g.before_kernel_name_id AS before_id,
        g.before_operation,
        g.after_kernel_name_id AS after_id,
        g.after_operation,
        sum(g.gap_count)::BIGINT AS gap_count,
        sum(g.duration_ns)::BIGINT AS total_ns,
        max(g.max_ns) AS max_ns{{range .Idle}},
        sum(p.{{.Column}})::BIGINT AS {{.Column}}{{end}}
    FROM _ranked_gap(run, stage := stage, device := device, warmup := warmup, source := source) g
    JOIN p ON p.source_id = g.source_id AND p.pattern_id = g.pattern_id
    WHERE NOT g.is_left
    GROUP BY ALL
), q AS (
    SELECT
        coalesce(b.name, g.before_operation) AS before,
        coalesce(a.name, g.after_operation) AS after,
        g.stage,
        g.place,
        g.total_ns,
        g.gap_count,
        g.max_ns,
        greatest({{range $i, $p := .Idle}}{{if $i}}, {{end}}g.{{.Column}}{{end}}) AS most_ns,
        CASE most_ns {{range .Idle}} WHEN g.{{.Column}} THEN {{quote .Name}} {{end}} END AS part{{range .Idle}},
        g.{{.Column}}{{end}}
    FROM g
    LEFT JOIN kernel_name b ON b.run_id = run AND b.kernel_name_id = g.before_id
    LEFT JOIN kernel_name a ON a.run_id = run AND a.kernel_name_id = g.after_id
)
SELECT
    row_number() OVER (ORDER BY q.total_ns DESC, q.before, q.after, q.stage, q.place) AS rank,
    q.total_ns,
    q.part AS cause,
    q.before,
    q.after,
    q.stage,
    q.place,
    q.gap_count,
    q.total_ns / nullif((SELECT sum(x.total_ns) FROM g x), 0) AS idle_ratio,
    q.total_ns / q.gap_count AS mean_ns,
    q.max_ns{{range .Idle}},
    q.{{.Column}}{{end}}
FROM q
WHERE _is_gap_asked(q.part, q.place, cause, place)
QUALIFY top = 0 OR rank <= top
ORDER BY rank
