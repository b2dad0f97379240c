-- _workload-size: Tokens, images and batch of the run's passes, where all measured passes agree.
-- grain: one run
-- key: none
-- params:
--   run VARCHAR: the run
-- columns:
--   prefill_count: tokens per prompt; NULL when unknown or when passes differ
--   decode_count: decode steps; NULL when unknown or when passes differ
--   batch_count: sequences; NULL when unknown or when passes differ
--   image_count: images per prompt; NULL when unknown or when passes differ
--   crop_count: crops per image; NULL when unknown or when passes differ

SELECT
    CASE WHEN min(w.prefill_count) = max(w.prefill_count) THEN min(w.prefill_count) END AS prefill_count,
    CASE WHEN min(w.decode_count) = max(w.decode_count) THEN min(w.decode_count) END AS decode_count,
    CASE WHEN min(w.batch_count) = max(w.batch_count) THEN min(w.batch_count) END AS batch_count,
    CASE WHEN min(w.image_count) = max(w.image_count) THEN min(w.image_count) END AS image_count,
    CASE WHEN min(w.crop_count) = max(w.crop_count) THEN min(w.crop_count) END AS crop_count
FROM _workload_entry(run) w
WHERE NOT w.is_warmup
HAVING count(*) > 0
