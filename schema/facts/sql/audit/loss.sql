-- loss: What a capture did not record, or recorded as it cannot have been: the evidence is in the capture itself. No rows where all
--     launches have work, all work its launch, and each stream its order.
-- grain: one kind of loss in a stage of a process on a GPU
-- key: kind, source_id, pid, device_id, stage, detail
-- needs: _lost_launch|_lost_order|_lost_replay|_lost_total|_lost_rank|_tool_loss|unseen_work
-- columns:
--   kind VARCHAR: launches-without-work; ran-after-capture (launches at its end, whose work came after it); launched-before-capture (work
--     at its beginning); work-without-launch; repeated-records, no-time, work-before-launch, work-after-wait, stream-overlap or
--     stream-order (times that cannot be); replays-differ (replays of a graph that lack nodes which others have); tool-lost-data;
--     totals-differ; ranks-missing; waited-for-unseen-work
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when not known
--   device_id INTEGER: GPU; NULL when not known
--   stage VARCHAR: stage that lacks it, (none) outside every stage; NULL when any may
--   is_cut BOOLEAN: whether it is what the beginning or the end of a capture cuts off: passes there are not whole, all others are
--   item_count BIGINT: how many launches, kernels, records, ...; NULL when not known
--   of_count BIGINT: of how many: launches of the stage in the source, kernels of the replays that lack some; NULL when not known
--   time_ns BIGINT: device time of what is concerned; NULL when not recorded
--   detail VARCHAR: cause of tool-lost-data; the quantity of totals-differ; NULL for others

SELECT
    l.kind,
    l.source_id,
    l.pid,
    l.device_id,
    l.stage,
    l.is_cut,
    l.item_count,
    l.of_count,
    l.time_ns,
    l.detail
FROM _lost_launch l
UNION ALL
SELECT
    o.kind,
    o.source_id,
    o.pid,
    o.device_id,
    o.stage,
    o.is_cut,
    o.item_count,
    o.of_count,
    o.time_ns,
    o.detail
FROM _lost_order o
UNION ALL
SELECT
    'replays-differ',
    r.source_id,
    r.pid,
    r.device_id,
    coalesce(s.stage, CASE WHEN r.path_id IS NOT NULL THEN '(none)' END),
    r.path_id IS NULL,
    sum(r.item_count)::BIGINT,
    sum(r.of_count)::BIGINT,
    NULL,
    NULL
FROM _lost_replay r LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = r.path_id
GROUP BY ALL
UNION ALL
SELECT 'totals-differ', t.source_id, NULL, NULL, NULL, false, NULL, NULL, t.time_ns, t.detail
FROM _lost_total t
UNION ALL
SELECT
    'waited-for-unseen-work',
    u.source_id,
    u.pid,
    u.device_id,
    coalesce(s.stage, '(none)'),
    true,
    NULL,
    NULL,
    sum(u.duration_ns)::BIGINT,
    NULL
FROM unseen_work u LEFT JOIN path_stage s ON s.run_id = u.run_id AND s.path_id = u.path_id
WHERE u.run_id = $run
GROUP BY ALL
UNION ALL
SELECT 'ranks-missing', r.source_id, NULL, NULL, NULL, false, r.item_count, r.of_count, NULL, NULL
FROM _lost_rank r
UNION ALL
SELECT
    'tool-lost-data',
    t.source_id,
    t.pid,
    NULL,
    NULL,
    t.cause = 'trace-cut',
    t.item_count,
    NULL,
    NULL,
    t.cause
FROM _tool_loss t
