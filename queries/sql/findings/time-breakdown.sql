-- time-breakdown v1: What the time of the measured passes of stages goes to: idle time by what held the GPU up, kernels by family, copies; together all of their spans.
-- grain: one category of one stage
-- key: stage, kind, category
-- notes: graph pass throttle timelines accounting launch stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for all device work of a run without measured passes
--   top BIGINT = 10: categories at most; 0 for all
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   rank: place by total_ns among the rows of all stages asked for
--   stage: the stage, by stage_rule, warm-up passes left out; NULL: all device work of a run without measured passes
--   category: idle: launch-bound, synchronising, cuda-call, host-bound, queued, profiler or unknown, as the kinds of accounting; kernels: their family by
--     kernel_rule, or their name where no rule matches, and (graph replays) for those traced as a whole; copies: (copies and fills); other: (work of others)
--   kind: idle, kernels, copies or other (only work ran that the passes did not launch)
--   total_ns: what it took of the spans, added up over passes and GPUs: the categories of a stage add up to stage_ns. Kernels that ran side by side share the time
--     in which kernels ran by the lengths of their executions; graph replays count when no kernel ran, copies when neither did
--   share_ratio: total_ns as a share of measured_ns
--   calls: executions; NULL for idle and other
--   measured_ns: sum of the spans, from the first start to the last end of device work, of all measured passes of all stages, over the GPUs
--   stage_ns: the same of the stage
--   sum_ns: sum of the lengths of the executions: more than total_ns where work ran side by side; NULL for idle and other

WITH c AS (
    SELECT c.stage, c.category, c.category_kind, sum(c.total_ns)::BIGINT AS total_ns, sum(c.launch_count)::BIGINT AS calls, sum(c.sum_ns)::BIGINT AS sum_ns
    FROM time_category c
    WHERE c.run_id = run AND _is_asked(c.kind, c.is_counted, source)
    GROUP BY c.stage, c.category, c.category_kind
), s AS (
    SELECT s.stage, sum(s.span_ns)::BIGINT AS stage_ns FROM finding_span s WHERE s.run_id = run AND _is_asked(s.kind, s.is_counted, source) GROUP BY s.stage
), m AS (
    SELECT sum(s.stage_ns)::BIGINT AS measured_ns FROM s
), ranked AS (
    SELECT row_number() OVER (ORDER BY c.total_ns DESC, c.stage, c.category_kind, c.category) AS rank, c.stage, c.category, c.category_kind, c.total_ns, c.calls, c.sum_ns
    FROM c WHERE stage IS NULL OR coalesce(c.stage, '(none)') = stage
)
SELECT r.rank, r.stage, r.category, r.category_kind AS kind, r.total_ns, r.total_ns / nullif(m.measured_ns, 0) AS share_ratio, r.calls, m.measured_ns, s.stage_ns, r.sum_ns
FROM ranked r CROSS JOIN m JOIN s ON s.stage IS NOT DISTINCT FROM r.stage
WHERE top = 0 OR r.rank <= top
ORDER BY r.rank
