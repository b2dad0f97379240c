-- losses v1: What the captures of a run did not record, or recorded as it cannot have been. No rows where nothing is known to be missing.
-- grain: one kind of loss in a stage of a process on a GPU
-- key: source_id, kind, stage, pid, device, detail
-- notes: launch
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: {timelines}; default: all
-- columns:
--   kind: launches-without-work, ran-after-capture, launched-before-capture, work-without-launch, repeated-records, no-time,
--     work-before-launch, work-after-wait, stream-overlap, stream-order, replays-differ, tool-lost-data, totals-differ, ranks-missing or
--     waited-for-unseen-work: see the table loss
--   stage: stage that lacks it; (none) outside every stage, NULL when any may
--   item_count: how many launches, kernels or records; NULL when not known
--   of_count: of how many; NULL when not known
--   time_ns: device time of what is concerned; NULL when not recorded
--   is_cut: whether the beginning or the end of the capture cut it off: passes there are not whole, all others are
--   capture: kind of the capture: {timelines}
--   is_counted: whether figures are taken from that kind unless another is asked for
--   pid: process; NULL when not known
--   device: GPU; NULL when not known
--   detail: cause of tool-lost-data; the quantity of totals-differ; NULL for others
--   source_id: the source
--   path: file of the source

SELECT
    l.kind,
    l.stage,
    l.item_count,
    l.of_count,
    l.time_ns,
    l.is_cut,
    s.kind AS capture,
    coalesce(t.is_counted, false) AS is_counted,
    l.pid,
    l.device_id AS device,
    l.detail,
    l.source_id,
    s.path
FROM loss l
JOIN source s ON s.run_id = l.run_id AND s.source_id = l.source_id
LEFT JOIN timeline t ON t.run_id = l.run_id AND t.source_id = l.source_id
WHERE l.run_id = run AND (source IS NULL OR s.kind = source)
ORDER BY l.source_id, l.kind, l.stage, l.pid, l.device_id, l.detail
