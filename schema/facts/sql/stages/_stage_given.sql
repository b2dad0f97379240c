-- _stage_given: Passes that the workload timed itself, without a profiler and as they were traced, by stage: of files that say both.
-- grain: one stage
-- key: stage
-- needs: workload_alone workload_pass
-- columns:
--   stage VARCHAR: the stage
--   tool VARCHAR: kind of the timeline
--   is_alike BOOLEAN: whether the passes without a profiler did the same work as those that were traced, and the times of these are those
--     of the stage in the timeline, within 10 %
--   recording_count BIGINT: files of passes without a profiler
--   alone_ns BIGINT[]: their times, no warm-up
--   profiled_ns BIGINT[]: times of the traced passes, as the workload measured them

-- The workload's passes are those of the timeline counted from the last one. A stage that has another number of passes is not compared.
WITH traced AS (
    SELECT
        w.source_id,
        w.pass_id,
        w.is_warmup,
        (w.is_warmup, w.prefill_count, w.decode_count, coalesce(w.batch_count, 1), w.image_count, w.crop_count, w.input) AS work,
        w.prefill_ns,
        w.decode_ns,
        w.vision_ns
    FROM workload_pass w
    WHERE w.run_id = $run AND w.pass_id IS NOT NULL AND w.process_id IS NULL
), alone AS (
    SELECT
        w.source_id,
        w.pass_id,
        w.is_warmup,
        (w.is_warmup, w.prefill_count, w.decode_count, coalesce(w.batch_count, 1), w.image_count, w.crop_count, w.input) AS work,
        w.prefill_ns,
        w.decode_ns,
        w.vision_ns
    FROM workload_alone w
    WHERE w.run_id = $run
), same AS (
    SELECT count(DISTINCT x.works) = 1 AND count(*) FILTER (x.is_traced) = 1 AS is_same
    FROM (
        SELECT list(t.work ORDER BY t.pass_id) AS works, true AS is_traced
        FROM traced t
        GROUP BY t.source_id
        UNION ALL
        SELECT list(a.work ORDER BY a.pass_id), false
        FROM alone a
        GROUP BY a.source_id
    ) x
), p AS (
    SELECT
        s.stage,
        row_number() OVER (PARTITION BY s.stage ORDER BY s.start_ns DESC) AS back_count,
        count(*) OVER (PARTITION BY s.stage) AS passes,
        greatest(s.cpu_ns, s.gpu_span_ns) AS ns,
        t.kind
    FROM stage_pass s JOIN timeline t ON t.run_id = s.run_id AND t.source_id = s.source_id
    WHERE s.run_id = $run AND s.is_counted AND NOT s.is_warmup
), said AS (
    SELECT
        v.stage,
        row_number() OVER (PARTITION BY v.stage ORDER BY v.pass_id DESC) AS back_count,
        count(*) OVER (PARTITION BY v.stage) AS passes,
        v.ns
    FROM (
        SELECT
            unnest(['prefill', 'decode', 'vision']) AS stage,
            unnest([t.prefill_ns, t.decode_ns, t.vision_ns]) AS ns,
            t.pass_id
        FROM traced t
        WHERE NOT t.is_warmup
    ) v
), profiled AS (
    SELECT
        p.stage,
        any_value(p.kind) AS tool,
        bool_and(coalesce(s.passes = p.passes AND s.ns BETWEEN 0.9 * p.ns AND 1.1 * p.ns, false)) AS is_told,
        list(s.ns ORDER BY s.ns) AS times
    FROM p LEFT JOIN said s ON s.stage = p.stage AND s.back_count = p.back_count
    GROUP BY p.stage
)
SELECT
    a.stage,
    p.tool,
    p.is_told AND s.is_same AS is_alike,
    count(DISTINCT a.source_id) AS recording_count,
    list(a.ns ORDER BY a.ns) AS alone_ns,
    p.times AS profiled_ns
FROM (
    SELECT
        unnest(['prefill', 'decode', 'vision']) AS stage,
        unnest([a.prefill_ns, a.decode_ns, a.vision_ns]) AS ns,
        a.source_id
    FROM alone a
    WHERE NOT a.is_warmup
) a
JOIN profiled p ON p.stage = a.stage
CROSS JOIN same s
WHERE a.ns IS NOT NULL
GROUP BY a.stage, p.tool, p.is_told, s.is_same, p.times
