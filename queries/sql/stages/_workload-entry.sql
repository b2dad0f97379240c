-- _workload-entry: What the workload says of its passes, counted from the last one, as far as it is about the counted timeline.
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
--   warmup_count: passes to warm up at the beginning of the capture; NULL when not said, also where a file lists passes, since those of its warm-up are the ones that it does not list
--   is_warmup: whether the pass is one to warm up

SELECT e.back_count, e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count, e.later_count, e.warmup_count, e.is_warmup
FROM workload_entry e
WHERE e.run_id = run AND CASE WHEN source IS NULL THEN e.is_counted ELSE e.kind = source END
