-- _note-samples: Why a captured run has no samples of NVML.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT 'NVML was not sampled while the passes ran: there was no NVIDIA driver, or --sample-hz was 0; see prof query diagnostics' AS note
FROM capture c
WHERE c.run_id = run AND NOT EXISTS (SELECT 1 FROM device_sample d WHERE d.run_id = c.run_id)
