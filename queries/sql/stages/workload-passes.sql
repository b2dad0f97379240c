-- workload-passes v1: Passes as the workload describes and measures them: wall time on the CPU's clock.
-- grain: one workload pass, or one row for every pass
-- key: source_id, pass
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: source of the workload's facts
--   pass: pass number in the workload's order, from 1; NULL: every pass
--   is_warmup: whether it is a warm-up pass
--   prefill_count: tokens per prompt, image tokens included; NULL when unknown
--   decode_count: decode steps per sequence after the prompt; NULL when unknown
--   batch_count: sequences
--   image_count: images per prompt; NULL when unknown
--   crop_count: crops per image, without its global view; NULL when unknown
--   prefill_ns: wall time of the prefill, measured by the workload; NULL when it was not measured
--   decode_ns: wall time of all decode steps, measured by the workload; NULL when it was not measured
--   vision_ns: wall time of the vision part of the prefill, measured by the workload; NULL when it was not measured
--   pid: process that ran it, where the facts distinguish processes; NULL: every process
--   rank: its rank; NULL when it has none

SELECT
    w.source_id,
    w.pass_id AS pass,
    w.is_warmup,
    w.prefill_count,
    w.decode_count,
    w.batch_count,
    w.image_count,
    w.crop_count,
    w.prefill_ns,
    w.decode_ns,
    w.vision_ns,
    p.pid,
    p.rank_id AS rank
FROM workload_pass w
LEFT JOIN workload_process p ON p.run_id = run AND p.source_id = w.source_id AND p.process_id = w.process_id
WHERE w.run_id = run
ORDER BY w.source_id, w.pass_id NULLS LAST
