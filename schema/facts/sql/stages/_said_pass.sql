-- _said_pass: What the workload says of the passes of its timeline: their tokens, images and whether they are warm-up.
-- grain: one outermost range of a stage that no warm-up rule matches
-- key: range_id
-- needs: workload_entry
-- columns:
--   range_id BIGINT: the range
--   is_warmup BOOLEAN: whether it is before the first measured pass, or the workload says so of it
--   prefill_count BIGINT: tokens of each prompt
--   batch_count BIGINT: sequences
--   image_count BIGINT: images of each prompt
--   crop_count BIGINT: crops of each image
--   step_count BIGINT: forward passes that decode in it
--   skipped_count BIGINT: tokens of each sequence that were decoded before it
--   seen_count BIGINT: ranges in a decode pass that are its steps, of the name that has most; NULL where it has none
--   is_contradicted BOOLEAN: whether no name has as many as the workload says; one more or less may be, since the prefill may make the
--     first token
--   is_said BOOLEAN: whether the workload says what its stage needs, and no range contradicts it

-- Passes of the workload are those of the timeline counted from the last one. Passes of another stage that are as many as the prefills go
-- with them; other passes of decode go with the prefill that they follow. Where these are several, and more than half as many as the steps
-- that were decoded, each is one step: equal parts of several steps would be fewer. Without prefills they are steps where they are enough
-- for all steps, or named so. Where the workload tells its processes apart, each has passes of its own. Of a workload that lists more
-- passes than the timeline has, only what all its passes have in common is used.
WITH e AS ( -- each node of a job by itself
    SELECT
        e.kind || coalesce(' ' || e.node_rank, '') AS kind,
        e.process_id,
        e.pid,
        e.back_count,
        e.prefill_count,
        e.decode_count,
        e.batch_count,
        e.image_count,
        e.crop_count,
        e.later_count,
        e.warmup_count,
        e.is_warmup
    FROM workload_entry e
    WHERE e.run_id = $run
), process AS ( -- of one id in two recordings it is not known which is meant
    SELECT
        e.kind,
        e.pid,
        CASE WHEN count(DISTINCT e.process_id) = 1 THEN min(e.process_id) END AS process_id
    FROM e
    WHERE e.process_id IS NOT NULL
    GROUP BY e.kind, e.pid
), place AS (
    SELECT
        t.source_id,
        t.kind || coalesce(' ' || h.node_rank, '') AS kind
    FROM timeline t LEFT JOIN source_host h ON h.run_id = t.run_id AND h.source_id = t.source_id
    WHERE t.run_id = $run
), r AS (
    SELECT
        t.kind,
        m.process_id,
        r.stage,
        r.range_id,
        r.source_id,
        r.series_id,
        r.pid,
        r.path_id,
        r.start_ns,
        r.is_named_step,
        r.is_ruled,
        r.back_count,
        r.stage_count,
        r.prefill_count,
        r.nth_prefill_count,
        r.nth,
        r.group_count
    FROM _stage_range r
    JOIN place t ON t.source_id = r.source_id
    LEFT JOIN process m ON m.kind = t.kind AND m.pid = r.pid
), seen AS (
    SELECT
        c.range_id,
        max(c.n) AS seen_count,
        list(c.n ORDER BY c.n) AS counts
    FROM (
        SELECT
            r.range_id,
            n.path_id,
            count(*) AS n
        FROM nvtx_range n
        JOIN _step_path p ON p.path_id = n.path_id AND p.stage = 'decode' AND p.stage_path_id <> p.path_id
        ASOF JOIN r
            ON r.source_id = n.source_id AND r.pid = n.pid AND r.path_id = p.stage_path_id AND r.start_ns <= n.start_ns
        WHERE n.run_id = $run
        GROUP BY r.range_id, n.path_id
    ) c
    GROUP BY c.range_id
), said AS ( -- listed is the first measured pass; 0 where one row holds for every pass
    SELECT
        e.kind,
        e.process_id,
        coalesce(max(e.back_count) FILTER (NOT e.is_warmup), max(e.back_count)) AS listed,
        coalesce(max(e.warmup_count), 0) AS warmups,
        CASE
            WHEN bool_and(e.decode_count IS NOT NULL) FILTER (NOT e.is_warmup)
                THEN max(e.later_count + e.decode_count) FILTER (NOT e.is_warmup)
        END AS steps,
        count(DISTINCT (e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count)) FILTER (
            NOT e.is_warmup
        )
            = 1 AS is_alike
    FROM e
    GROUP BY e.kind, e.process_id
), way AS (
    SELECT
        r.kind,
        s.process_id,
        r.range_id,
        r.stage,
        r.back_count,
        r.stage_count - r.back_count AS before,
        s.listed,
        s.warmups,
        s.steps,
        s.is_alike,
        r.nth,
        r.group_count,
        max(r.group_count) OVER (PARTITION BY r.stage, r.series_id, r.pid) AS most,
        r.stage = 'decode' AND r.prefill_count NOT IN (0, r.stage_count) AS follows,
        r.stage = 'decode'
        AND r.prefill_count = 0
        AND coalesce(s.steps > greatest(s.listed, 1), false)
        AND CASE s.listed WHEN 0 THEN r.is_named_step ELSE r.stage_count >= s.steps END AS is_step,
        CASE
            WHEN r.prefill_count > 0 THEN r.prefill_count
            WHEN is_step AND s.listed = 0 THEN (r.stage_count + s.steps - 1) // s.steps
            ELSE r.stage_count
        END AS passes,
        CASE
            WHEN follows THEN r.prefill_count - r.nth_prefill_count + 1
            WHEN NOT is_step THEN r.back_count
            WHEN s.listed = 0 THEN passes - before // s.steps
        END AS place
    FROM r JOIN said s ON s.kind = r.kind AND (s.process_id IS NULL OR s.process_id = r.process_id)
    WHERE NOT r.is_ruled AND (r.stage IN ('prefill', 'decode') OR r.stage_count = r.prefill_count)
), placed AS (
    SELECT
        w.kind,
        w.process_id,
        w.range_id,
        w.stage,
        w.back_count,
        w.before,
        w.listed,
        w.steps,
        w.is_step,
        w.nth,
        CASE WHEN w.follows AND w.most > 1 THEN w.group_count END AS parts,
        CASE WHEN w.place = 1 THEN w.most ELSE w.group_count END AS whole_parts, -- the last pass may be cut off
        coalesce(
            w.place,
            CASE WHEN w.back_count <= b.later_count + b.decode_count THEN b.back_count END,
            w.listed + 1
        ) AS at_pass,
        at_pass <= w.passes AS is_begun,
        w.warmups > 0 AND at_pass > w.passes - w.warmups
        OR w.listed > 0 AND w.passes >= w.listed AND at_pass > w.listed AS is_before,
        CASE
            WHEN w.listed = 0 THEN 0
            WHEN w.passes >= w.listed THEN at_pass
            WHEN w.is_alike THEN w.listed
        END AS said_count
    FROM way w
    ASOF LEFT JOIN (
        SELECT
            e.kind,
            coalesce(e.process_id, 0) AS process_id,
            e.back_count,
            e.later_count,
            e.decode_count
        FROM e
        WHERE e.decode_count > 0
    ) b
        ON b.kind = w.kind
        AND b.process_id = coalesce(w.process_id, 0)
        AND CASE WHEN w.place IS NULL THEN w.back_count END > b.later_count
)
SELECT
    q.range_id,
    q.is_warmup,
    q.prefill_count,
    q.batch_count,
    q.image_count,
    q.crop_count,
    q.step_count,
    q.skipped_count,
    q.seen_count,
    coalesce(list_min(list_transform(q.counts, lambda n: abs(n - q.step_count))) > 1, false) AS is_contradicted,
    CASE q.stage
        WHEN 'prefill' THEN coalesce(q.prefill_count, q.image_count) IS NOT NULL
        WHEN 'decode' THEN q.step_count IS NOT NULL AND NOT is_contradicted
        ELSE false
    END AS is_said
FROM (
    SELECT
        p.stage,
        p.range_id,
        p.is_before OR coalesce(e.is_warmup, false) AS is_warmup,
        e.prefill_count,
        e.batch_count,
        e.image_count,
        e.crop_count,
        CASE
            WHEN p.is_step THEN CASE WHEN e.decode_count > 0 THEN 1 END
            WHEN p.parts IS NULL THEN e.decode_count
            WHEN p.parts = e.decode_count
                OR p.is_begun AND p.parts < e.decode_count AND e.decode_count < 2 * p.whole_parts
                THEN 1
        END AS step_count,
        CASE
            WHEN p.parts IS NOT NULL THEN p.nth - 1
            WHEN NOT p.is_step THEN 0
            WHEN p.listed = 0 THEN p.before % p.steps
            ELSE e.decode_count - (p.back_count - e.later_count)
        END AS skipped_count,
        s.seen_count,
        s.counts
    FROM placed p
    LEFT JOIN e ON e.kind = p.kind AND e.process_id IS NOT DISTINCT FROM p.process_id AND e.back_count = p.said_count
    LEFT JOIN seen s ON s.range_id = p.range_id
) q
