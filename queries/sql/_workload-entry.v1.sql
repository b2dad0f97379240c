-- _workload-entry v1: What the workload says of its measured passes, counted from the last one, as far as it is about the counted timeline.
-- grain: one measured pass of the workload, or one row for every pass
-- key: back_count
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   back_count: 1 for the last pass, 2 for the one before, ...; 0 for what holds for every pass
--   prefill_count: tokens of each prompt; NULL when not said
--   decode_count: decode steps after it; NULL when not said
--   batch_count: sequences
--   image_count: images of each prompt; NULL when not said
--   crop_count: crops of each image; NULL when not said
--   later_count: decode steps of the passes after this one
--   warmup_count: passes to warm up at the beginning of the capture; NULL when not said

-- Of several facts about a timeline the latest are taken: options and files given afterwards say better.
WITH kind AS (
    SELECT min(s.kind) AS kind FROM source s WHERE s.run_id = _run_id_v1(run) AND s.source_id IN (SELECT t.source_id FROM _timeline_v1(run, source := source) t)
), facts AS (
    SELECT w.source_id, w.warmup_count, w.capture FROM workload w
    WHERE w.run_id = _run_id_v1(run) AND (w.capture IS NULL OR w.capture = (SELECT k.kind FROM kind k))
), chosen AS (
    SELECT f.source_id, f.warmup_count FROM facts f ORDER BY f.source_id DESC LIMIT 1
), entry AS (
    SELECT CASE WHEN p.pass_id IS NULL THEN 0 ELSE row_number() OVER (ORDER BY p.pass_id DESC NULLS LAST) END AS back_count,
        p.prefill_count, p.decode_count, p.batch_count, p.image_count, p.crop_count, c.warmup_count
    FROM workload_pass p JOIN chosen c ON c.source_id = p.source_id
    WHERE p.run_id = _run_id_v1(run) AND NOT p.is_warmup
)
SELECT e.back_count, e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count,
    coalesce((SELECT sum(l.decode_count) FROM entry l WHERE l.back_count < e.back_count AND l.back_count > 0), 0)::BIGINT AS later_count, e.warmup_count
FROM entry e
