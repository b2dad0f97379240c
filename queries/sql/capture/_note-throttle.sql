-- _note-throttle: GPUs whose state makes times longer than they could be: held back for want of power or cooling, or shared with others.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT format('GPU {} was held back ({}) in {:.0f} % of {}: times are longer than they could be, see prof query throttling', d.device_id, d.reasons, 100 * d.slowed_count / coalesce(d.busy_count, d.sample_count),
    CASE WHEN d.busy_count IS NULL THEN 'all samples (NVML does not tell when it was at work)' ELSE 'the samples in which it was at work' END) AS note
FROM capture_doubt d WHERE d.run_id = run AND d.slowed_count > 0
UNION ALL
SELECT format('other processes computed on GPU {} in {:.0f} % of the samples: times are not the workload''s alone', d.device_id, 100 * d.shared_count / d.sample_count)
FROM capture_doubt d WHERE d.run_id = run AND d.shared_count > 0
