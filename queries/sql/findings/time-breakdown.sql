-- time-breakdown v1: Where the time of the measured stage passes goes: idle time by cause, kernels by family, and copies. Categories add up
--     to the passes' GPU spans.
-- grain: one category of one stage
-- key: stage, kind, category
-- notes: graph pass throttle timelines accounting launch stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for all device work of a run without measured passes
--   top BIGINT = 10: maximum categories; 0 for all
--   {source}
-- columns:
--   rank: rank by total_ns over all stages shown
--   stage: the stage, by stage_rule, warm-up passes excluded; NULL: all device work of a run without measured passes
--   category: for idle time its cause, a kind of accounting: {causes}; for kernels their family by kernel_rule, else their name, and (graph
--     replays) for graphs traced as a whole; for copies (copies and fills); for other work (work of others)
--   kind: idle, kernels, copies or other (only work ran that the passes did not launch)
--   total_ns: GPU time of the category, summed over passes and GPUs: the categories of a stage add up to stage_ns. Concurrent kernels share
--     the time in which kernels ran in proportion to their durations; graph replays count while no kernel ran, copies while neither ran
--   share_ratio: total_ns as a share of measured_ns
--   calls: executions; NULL for idle and other
--   measured_ns: sum of the GPU spans (first start to last end of device work) of all measured passes of all stages, over all GPUs
--   stage_ns: sum of the GPU spans of the stage's measured passes, over all GPUs
--   sum_ns: sum of the durations: more than total_ns where work ran concurrently; NULL for idle and other

WITH c AS (
    SELECT
        c.stage,
        c.category,
        c.category_kind,
        sum(c.total_ns)::BIGINT AS total_ns,
        sum(c.launch_count)::BIGINT AS calls,
        sum(c.sum_ns)::BIGINT AS sum_ns
    FROM time_category c
    WHERE c.run_id = run AND _is_asked(c.kind, c.is_counted, source)
    GROUP BY c.stage, c.category, c.category_kind
), s AS (
    SELECT
        s.stage,
        sum(s.span_ns)::BIGINT AS stage_ns
    FROM finding_span s
    WHERE s.run_id = run AND _is_asked(s.kind, s.is_counted, source)
    GROUP BY s.stage
), m AS (
    SELECT sum(s.stage_ns)::BIGINT AS measured_ns
    FROM s
), ranked AS (
    SELECT
        row_number() OVER (ORDER BY c.total_ns DESC, c.stage, c.category_kind, c.category) AS rank,
        c.stage,
        c.category,
        c.category_kind,
        c.total_ns,
        c.calls,
        c.sum_ns
    FROM c
    WHERE stage IS NULL OR coalesce(c.stage, '(none)') = stage
)
SELECT
    r.rank,
    r.stage,
    r.category,
    r.category_kind AS kind,
    r.total_ns,
    r.total_ns / nullif(m.measured_ns, 0) AS share_ratio,
    r.calls,
    m.measured_ns,
    s.stage_ns,
    r.sum_ns
FROM ranked r CROSS JOIN m JOIN s ON s.stage IS NOT DISTINCT FROM r.stage
WHERE top = 0 OR r.rank <= top
ORDER BY r.rank
