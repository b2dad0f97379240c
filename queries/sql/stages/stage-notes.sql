-- stage-notes v4: Notes: named parts inside a stage, such as the vision towers in prefill, shown separately and already contained in the
--     stage.
-- grain: one stage and note
-- key: stage, note
-- notes: timelines launch range recorded
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only ranges with work on it
--   {source}
-- columns:
--   stage: the stage around the note; (none) outside every stage
--   note: the note, by stage_rule
--   instances: outermost ranges of the note, warm-up excluded, also within passes that the workload marks as warm-up
--   cpu_mean_ns: mean CPU time
--   gpu_span_mean_ns: mean GPU span of the instances with device work
--   gpu_busy_mean_ns: mean GPU busy time, summed over GPUs
--   gpu_sum_mean_ns: mean sum of the durations of kernels, copies, fills and graph replays
--   kernel_count: kernels of all instances
--   passes: passes of the stage with instances; 0 outside stages
--   pass_mean_ns: mean per pass of the GPU spans of its instances, added up: a pass may run the part several times; NULL when one has no
--     device work
--   pass_std_ns: sample standard deviation (n-1) over these passes; NULL for a single one
--   image_mean_ns: these GPU spans / the images of these passes; NULL when the number of images is unknown

WITH r AS (
    SELECT
        n.stage,
        n.note,
        any_value(n.pass_range_id) AS pass_range_id,
        any_value(n.cpu_ns) AS cpu_ns,
        max(n.last_end_ns) - min(n.first_start_ns) AS gpu_span_ns,
        coalesce(sum(n.busy_ns), 0) AS gpu_busy_ns,
        coalesce(sum(n.sum_ns), 0) AS gpu_sum_ns,
        coalesce(sum(n.kernel_count), 0) AS kernel_count
    FROM note_range n
    WHERE n.run_id = run
        AND n.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND NOT n.is_warmup
        AND (device IS NULL OR n.device_id = device)
    GROUP BY n.range_id, n.stage, n.note
), pass AS (
    SELECT
        r.stage,
        r.note,
        r.pass_range_id,
        CASE WHEN count(r.gpu_span_ns) = count(*) THEN sum(r.gpu_span_ns) END::BIGINT AS span_ns
    FROM r
    WHERE r.pass_range_id IS NOT NULL
    GROUP BY r.stage, r.note, r.pass_range_id
), passes AS (
    SELECT
        p.stage,
        p.note,
        count(*) AS passes,
        CASE WHEN count(p.span_ns) = count(*) THEN avg(p.span_ns) END AS pass_mean_ns,
        CASE WHEN count(p.span_ns) = count(*) THEN _std(p.span_ns) END AS pass_std_ns,
        CASE
            WHEN count(p.span_ns) = count(*) AND count(s.prompt_count * s.image_count) = count(*)
                THEN sum(p.span_ns) / nullif(sum(s.prompt_count * s.image_count), 0)
        END AS image_mean_ns
    FROM pass p JOIN stage_pass s ON s.run_id = run AND s.range_id = p.pass_range_id
    GROUP BY p.stage, p.note
)
SELECT
    coalesce(r.stage, '(none)') AS stage,
    r.note,
    count(*) AS instances,
    avg(r.cpu_ns) AS cpu_mean_ns,
    avg(r.gpu_span_ns) AS gpu_span_mean_ns,
    avg(r.gpu_busy_ns::BIGINT) AS gpu_busy_mean_ns,
    avg(r.gpu_sum_ns::BIGINT) AS gpu_sum_mean_ns,
    sum(r.kernel_count)::BIGINT AS kernel_count,
    coalesce(any_value(p.passes), 0) AS passes,
    any_value(p.pass_mean_ns) AS pass_mean_ns,
    any_value(p.pass_std_ns) AS pass_std_ns,
    any_value(p.image_mean_ns) AS image_mean_ns
FROM r LEFT JOIN passes p ON p.stage = r.stage AND p.note = r.note
GROUP BY r.stage, r.note
ORDER BY r.stage NULLS LAST, gpu_sum_mean_ns DESC, r.note
