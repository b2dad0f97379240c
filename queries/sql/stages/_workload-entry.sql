-- _workload-entry: The workload's description of its passes, counted from the last one, as far as it covers the counted timeline.
-- grain: one workload pass, or one row for every pass; of a job's facts per process too
-- key: process_id, back_count
-- params:
--   run VARCHAR: the run
--   {source}
-- columns:
--   process_id: process of the facts that ran it; NULL when it holds for every process
--   back_count: position from the end: 1 for the last pass, 2 for the one before; 0 for values that hold for every pass, or when no pass is
--     listed
--   prefill_count: tokens per prompt; NULL when unknown
--   decode_count: decode steps after the prompt; NULL when unknown
--   batch_count: sequences; NULL when no pass is listed
--   image_count: images per prompt; NULL when unknown
--   crop_count: crops per image; NULL when unknown
--   later_count: decode steps of the passes after this one
--   warmup_count: warm-up passes at the beginning of the capture; NULL when unknown, and in a file that lists passes: it does not list the
--     warm-up passes before them
--   is_warmup: whether it is a warm-up pass

SELECT
    e.process_id,
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
WHERE e.run_id = run AND CASE WHEN source IS NULL THEN e.is_counted ELSE e.kind = source END
