-- workload-passes v1: What the facts of the workload say of its passes, and what it measured itself: wall time, on the CPU's clock.
-- grain: one pass of the workload, or one row for every pass
-- key: source_id, pass
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: the source of the facts
--   pass: 1, 2, ... in the order of the workload; NULL: every pass
--   is_warmup: whether the pass is one to warm up
--   prefill_count: tokens of each prompt, image tokens included; NULL when not said
--   decode_count: decode steps after the prompt, of each sequence; NULL when not said
--   batch_count: sequences
--   image_count: images of each prompt; NULL when not said
--   crop_count: crops of each image, its global view apart; NULL when not said
--   prefill_ns: wall time of the prefill as the workload measured it; NULL when it did not
--   decode_ns: wall time of all decode steps, likewise
--   vision_ns: wall time of the vision part of the prefill, likewise

SELECT w.source_id, w.pass_id AS pass, w.is_warmup, w.prefill_count, w.decode_count, w.batch_count, w.image_count, w.crop_count, w.prefill_ns, w.decode_ns, w.vision_ns
FROM workload_pass w
WHERE w.run_id = run
ORDER BY w.source_id, w.pass_id NULLS LAST
