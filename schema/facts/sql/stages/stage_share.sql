-- stage_share: Whether the processes that ran a stage worked on each pass together, as in tensor parallelism, or each on passes of its own.
-- grain: one stage of a kind of timeline
-- key: stage, kind
-- needs: stage_pass
-- columns:
--   stage VARCHAR: the stage, by stage_rule
--   kind VARCHAR: timeline kind: {timelines}
--   process_count BIGINT: processes with measured passes of it; repeats are not added up
--   is_shared BOOLEAN: true: they shared one batch, so that its tokens count once; false: each had its own, and the tokens add up, as for
--     one process; NULL when unknown
--   basis VARCHAR: what shows it: facts (the workload's: tensor parallelism over all of them, or tokens that differ between any two) or
--     capture (all-reduces inside forward passes, kernels of equal shapes); NULL for one process, and when unknown

-- Equal tokens alone show nothing: ranks with batches of their own may have as many. Different ones, in passes of the same place, counted
-- from either end, that each process says of itself, are of different batches unless the capture shows that work was shared; where some
-- ranks have equal ones, groups may share. Passes of a job are the same from the end: cold ones, of which a rank may have more than
-- another, come first. A rank of a model that is split over more ranks than were captured has part of the work of its tokens.
WITH split AS (
    SELECT
        e.kind,
        e.node_rank,
        e.pid,
        min(e.parallel_size) AS size
    FROM workload_entry e
    WHERE e.run_id = $run AND e.pid IS NOT NULL
    GROUP BY e.kind, e.node_rank, e.pid
), p AS (
    SELECT
        p.stage,
        t.kind,
        t.is_counted,
        p.repeat_id,
        p.source_id,
        p.pid,
        any_value(s.size) AS size,
        list((p.prompt_token_count, p.decode_token_count, p.sequence_count) ORDER BY p.start_ns, p.range_id) AS work,
        count(p.prompt_token_count + p.decode_token_count) = count(*)
        AND bool_and(p.basis = 'annotation' OR s.pid IS NOT NULL) AS is_said
    FROM stage_pass p
    JOIN timeline t ON t.run_id = $run AND t.source_id = p.source_id
    LEFT JOIN source_host h ON h.run_id = t.run_id AND h.source_id = t.source_id
    LEFT JOIN split s ON s.kind = t.kind AND s.node_rank IS NOT DISTINCT FROM h.node_rank AND s.pid = p.pid
    WHERE p.run_id = $run AND NOT p.is_warmup
    GROUP BY p.stage, t.kind, t.is_counted, p.repeat_id, p.source_id, p.pid
), pair AS (
    SELECT
        a.stage,
        a.kind,
        a.repeat_id,
        least(len(a.work), len(b.work)) AS n,
        a.work[-n:] = b.work[-n:] AS is_alike,
        a.work[:n] <> b.work[:n] AND NOT is_alike AS is_apart
    FROM p a
    JOIN p b
        ON b.stage = a.stage
        AND b.kind = a.kind
        AND b.repeat_id = a.repeat_id
        AND (b.source_id, b.pid) > (a.source_id, a.pid)
), pairs AS (
    SELECT
        a.stage,
        a.kind,
        a.repeat_id,
        bool_and(a.is_alike) AS are_alike,
        bool_and(a.is_apart) AS are_apart
    FROM pair a
    GROUP BY a.stage, a.kind, a.repeat_id
), job AS (
    SELECT
        p.stage,
        p.kind,
        p.repeat_id,
        count(*) AS processes,
        bool_and(p.is_said) AS is_said,
        count(p.size) AS splits,
        min(p.size) AS least,
        max(p.size) AS most,
        bool_or(h.stage IS NOT NULL) AS is_seen
    FROM p LEFT JOIN _shared_stage h ON h.stage = p.stage AND h.is_counted = p.is_counted
    GROUP BY p.stage, p.kind, p.repeat_id
), judged AS (
    SELECT
        j.stage,
        j.kind,
        j.processes,
        CASE
            WHEN j.processes = 1 AND coalesce(j.most, 1) = 1 THEN 'one'
            WHEN j.splits = j.processes AND j.least = j.processes AND j.most = j.processes AND a.are_alike THEN 'split'
            WHEN j.is_seen AND (a.are_alike OR NOT j.is_said) THEN 'seen'
            WHEN j.is_said AND a.are_apart AND NOT j.is_seen AND coalesce(j.most, 1) = 1 THEN 'apart'
        END AS way
    FROM job j
    LEFT JOIN pairs a ON a.stage = j.stage AND a.kind = j.kind AND a.repeat_id = j.repeat_id
)
SELECT
    g.stage,
    g.kind,
    max(g.processes) AS process_count,
    CASE
        WHEN count(g.way) = count(*) AND count(DISTINCT g.way IN ('split', 'seen')) = 1
            THEN bool_and(g.way IN ('split', 'seen'))
    END AS is_shared,
    CASE
        WHEN count(g.way) = count(*) AND max(g.processes) > 1 AND count(DISTINCT g.way) = 1
            THEN CASE min(g.way) WHEN 'seen' THEN 'capture' WHEN 'one' THEN NULL ELSE 'facts' END
    END AS basis
FROM judged g
GROUP BY g.stage, g.kind
