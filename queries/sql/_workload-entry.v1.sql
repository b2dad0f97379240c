-- _workload-entry v1: What the workload says of its passes, counted from the last one, as far as it is about the counted timeline.
-- grain: one pass of the workload, or one row for every pass
-- key: back_count
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   back_count: 1 for the last pass, 2 for the one before, ...; 0 for what holds for every pass, or where no pass is listed
--   prefill_count: tokens of each prompt; NULL when not said
--   decode_count: decode steps after it; NULL when not said
--   batch_count: sequences; NULL when no pass is said
--   image_count: images of each prompt; NULL when not said
--   crop_count: crops of each image; NULL when not said
--   later_count: decode steps of the passes after this one
--   warmup_count: passes to warm up at the beginning of the capture; NULL when not said
--   is_warmup: whether the pass is one to warm up

-- Of several facts about a timeline the latest are taken: options and files given afterwards say better.
WITH chosen AS (
    SELECT w.run_id, max(w.source_id) AS source_id, arg_max_null(w.warmup_count, w.source_id) AS warmup_count FROM workload w
    WHERE w.run_id = _run_id_v1(run) AND (w.capture IS NULL OR w.capture IN (SELECT s.kind FROM source s JOIN _timeline_v1(run, source := source) t ON t.source_id = s.source_id WHERE s.run_id = w.run_id))
    GROUP BY w.run_id
)
SELECT CASE WHEN p.pass_id IS NULL THEN 0 ELSE row_number() OVER (ORDER BY p.pass_id DESC NULLS LAST) END AS back_count,
    p.prefill_count, p.decode_count, p.batch_count, p.image_count, p.crop_count,
    coalesce(sum(p.decode_count) OVER (ORDER BY p.pass_id DESC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::BIGINT AS later_count, c.warmup_count, coalesce(p.is_warmup, false) AS is_warmup
FROM chosen c LEFT JOIN workload_pass p ON p.run_id = c.run_id AND p.source_id = c.source_id
