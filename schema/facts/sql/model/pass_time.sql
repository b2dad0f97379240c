-- pass_time: Pass times behind utilisation: each measured stage pass, the images in each prefill, and each prefill with the decode after
--     it.
-- grain: one outermost range of a stage, warm-up and passes that lost GPU work excluded, over all GPUs and on each; another row of a
--     prefill for its images, and one for the whole pass with its decode
-- key: stage, range_id, device_id
-- needs: stage_pass
-- columns:
--   stage VARCHAR: the stage; vision for the images, model for the whole pass
--   part_of VARCHAR: prefill for the images; NULL for others
--   range_id BIGINT: range of the stage; for images and whole passes, of the prefill
--   decode_range_id BIGINT: range of the decode in a whole pass; NULL for others
--   source_id INTEGER: the source
--   device_id INTEGER: GPU; NULL for all GPUs together
--   gpu VARCHAR: GPU name, (unknown) when the capture has none; NULL for all GPUs together
--   process_count BIGINT: processes that share the stage's work: ranks; repeats of the workload are not added up. For one GPU, the
--     processes with work on it, or all when is_shared
--   is_shared BOOLEAN: whether they share one batch, as in tensor parallelism: as in stage_share; false for one process, NULL when unknown
--   device_count BIGINT: GPUs with work of the pass; NULL for one of several
--   shared_device_count BIGINT: GPUs with work of the stage, of all its processes together: one that ranks share counts once; NULL where
--     device_count is
--   cpu_ns BIGINT: CPU time; NULL when a range never ended
--   gpu_span_ns BIGINT: GPU span: first start to last end of its device work; NULL without device work
--   gpu_busy_ns BIGINT: GPU busy time: union of its device intervals, summed over GPUs
--   gpu_sum_ns BIGINT: sum of the durations of its device work
--   alone_ns DOUBLE: time without a profiler, as in pass_alone; NULL when not measured, for images and for one GPU

-- A prefill and a decode belong together by their places in their process; where the numbers of the two differ in one, none does. Steps
-- that tell their tokens themselves hold both.
WITH p AS (
    SELECT
        p.stage,
        p.range_id,
        p.source_id,
        p.is_counted,
        p.repeat_id,
        p.pid,
        p.start_ns,
        p.end_ns,
        p.basis,
        p.device_count,
        row_number() OVER (PARTITION BY p.stage, p.source_id, p.pid ORDER BY p.start_ns, p.range_id) AS nth,
        sum(CASE p.stage WHEN 'prefill' THEN 1 WHEN 'decode' THEN -1 ELSE 0 END) OVER (PARTITION BY p.source_id, p.pid)
            <> 0 AS is_odd
    FROM stage_pass p
    WHERE p.run_id = $run AND NOT p.is_warmup AND p.lost_count = 0
), vision AS ( -- outermost ranges of the vision parts
    SELECT DISTINCT n.range_id, n.source_id, n.pid, n.start_ns
    FROM note_range n
    WHERE n.run_id = $run AND n.note IN ('vision', 'sam', 'clip', 'siglip', 'vit', 'projector')
), item AS ( -- each row with the ranges that it is made of
    SELECT
        p.stage,
        NULL::VARCHAR AS part_of,
        p.range_id,
        NULL::BIGINT AS decode_range_id,
        p.source_id,
        p.device_count,
        p.range_id AS member_id
    FROM p
    UNION ALL
    SELECT 'vision', 'prefill', p.range_id, NULL, p.source_id, p.device_count, v.range_id
    FROM vision v
    ASOF JOIN (
        SELECT x.range_id, x.source_id, x.pid, x.start_ns, x.end_ns, x.device_count
        FROM p x
        WHERE x.stage = 'prefill'
    ) p ON p.source_id = v.source_id AND p.pid = v.pid AND v.start_ns >= p.start_ns
    WHERE v.start_ns < p.end_ns
    UNION ALL
    SELECT
        'model',
        NULL,
        p.range_id,
        d.range_id,
        p.source_id,
        greatest(p.device_count, d.device_count),
        unnest([p.range_id, d.range_id])
    FROM p
    JOIN p d ON d.stage = 'decode' AND d.source_id = p.source_id AND d.pid = p.pid AND d.nth = p.nth
    WHERE p.stage = 'prefill'
        AND coalesce(p.basis <> 'annotation' AND d.basis <> 'annotation', true)
        AND NOT EXISTS (SELECT 1 FROM p x WHERE x.is_odd AND x.is_counted = p.is_counted)
), part AS (
    SELECT
        d.range_id,
        d.device_id,
        d.last_end_ns - d.first_start_ns AS gpu_span_ns,
        d.busy_ns AS gpu_busy_ns,
        d.sum_ns AS gpu_sum_ns
    FROM range_device d
    WHERE d.run_id = $run AND d.range_id IN (SELECT i.member_id FROM item i)
    UNION ALL
    SELECT
        n.range_id,
        NULL,
        max(d.last_end_ns) - min(d.first_start_ns),
        coalesce(sum(d.busy_ns), 0),
        coalesce(sum(d.sum_ns), 0)
    FROM nvtx_range n LEFT JOIN range_device d ON d.run_id = n.run_id AND d.range_id = n.range_id
    WHERE n.run_id = $run AND n.range_id IN (SELECT i.member_id FROM item i)
    GROUP BY n.range_id
), t AS (
    SELECT
        i.stage,
        i.part_of,
        i.range_id,
        i.decode_range_id,
        i.source_id,
        x.device_id,
        CASE WHEN x.device_id IS NULL OR i.device_count = 1 THEN i.device_count END AS device_count,
        count(*) AS n,
        sum(r.duration_ns)::BIGINT AS cpu_ns,
        count(r.duration_ns) AS ended,
        sum(x.gpu_span_ns)::BIGINT AS gpu_span_ns,
        count(x.gpu_span_ns) AS worked,
        sum(x.gpu_busy_ns)::BIGINT AS gpu_busy_ns,
        sum(x.gpu_sum_ns)::BIGINT AS gpu_sum_ns,
        CASE WHEN count(a.alone_ns) = count(*) THEN sum(a.alone_ns) END AS alone_ns
    FROM item i
    LEFT JOIN pass_alone a ON a.run_id = $run AND a.range_id = i.member_id
    JOIN part x ON x.range_id = i.member_id
    JOIN nvtx_range r ON r.run_id = $run AND r.range_id = i.member_id
    GROUP BY ALL
), ranks AS (
    SELECT
        x.stage,
        x.is_counted,
        x.device_id,
        max(x.processes) AS process_count
    FROM (
        SELECT
            p.stage,
            p.is_counted,
            x.device_id,
            p.repeat_id,
            count(DISTINCT (p.source_id, p.pid)) AS processes
        FROM p JOIN part x ON x.range_id = p.range_id
        GROUP BY ALL
    ) x
    GROUP BY ALL
), used AS ( -- processes may share a GPU
    SELECT
        x.stage,
        x.is_counted,
        max(x.devices) AS device_count
    FROM (
        SELECT
            p.stage,
            p.is_counted,
            p.repeat_id,
            count(DISTINCT x.device_id) AS devices
        FROM p JOIN part x ON x.range_id = p.range_id
        GROUP BY ALL
    ) x
    GROUP BY ALL
)
SELECT
    t.stage,
    t.part_of,
    t.range_id,
    t.decode_range_id,
    t.source_id,
    t.device_id,
    CASE WHEN t.device_id IS NOT NULL THEN coalesce(v.name, '(unknown)') END AS gpu,
    CASE WHEN h.is_shared THEN h.process_count ELSE k.process_count END AS process_count,
    CASE
        WHEN k.process_count = 1 AND h.process_count > 1 AND h.is_shared IS NULL THEN false
        ELSE h.is_shared
    END AS is_shared,
    t.device_count,
    CASE WHEN t.device_count IS NOT NULL THEN u.device_count END AS shared_device_count,
    CASE WHEN t.decode_range_id IS NULL OR t.ended = t.n THEN t.cpu_ns END AS cpu_ns,
    CASE WHEN t.decode_range_id IS NULL OR t.worked = t.n THEN t.gpu_span_ns END AS gpu_span_ns,
    t.gpu_busy_ns,
    t.gpu_sum_ns,
    CASE WHEN t.device_id IS NULL THEN t.alone_ns END AS alone_ns
FROM t
JOIN timeline l ON l.run_id = $run AND l.source_id = t.source_id
JOIN ranks k
    ON k.stage = CASE WHEN t.decode_range_id IS NULL THEN coalesce(t.part_of, t.stage) ELSE 'prefill' END
    AND k.is_counted = l.is_counted
    AND k.device_id IS NOT DISTINCT FROM t.device_id
LEFT JOIN used u ON u.stage = k.stage AND u.is_counted = k.is_counted
LEFT JOIN stage_share h ON h.run_id = $run AND h.stage = k.stage AND h.kind = l.kind
LEFT JOIN device v ON v.run_id = $run AND v.source_id = t.source_id AND v.device_id = t.device_id
WHERE t.decode_range_id IS NULL OR t.device_id IS NULL OR t.n = 2
