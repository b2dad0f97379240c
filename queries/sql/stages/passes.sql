-- passes v4: Each pass of each stage in the order of time, warm-up included: where stages' means come from.
-- grain: one outermost range of a stage
-- key: range_id
-- notes: timelines workload launch range
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   device BIGINT = NULL: only work on this GPU, and only passes that have some
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage, by stage_rule
--   pass: 1, 2, ... within the stage, source and process
--   path: normalised names of the ranges from the outermost one to the pass
--   cpu_ns: time on the CPU; NULL when it never ended
--   gpu_span_ns: first start to last end of its device work; NULL when it has none
--   gpu_busy_ns: union of its device intervals, added up over devices
--   gpu_sum_ns: sum of the durations of its kernels, copies, fills and graph replays
--   kernel_count: kernels; NULL where graphs were traced as a whole, whose kernels are not seen
--   is_warmup: whether stages leaves it out: a warm-up rule matches, the facts of the workload say so, or it was found cold
--   is_cold: whether it was found cold: see cold-passes
--   start_ns: start on the CPU, from the start of the source
--   source_id: the source
--   pid: process
--   range_id: the range
--   prefill_count: tokens of each prompt that it worked on; NULL when not known, and in other stages
--   decode_count: decode steps of each sequence in it, 0 in a prefill; NULL when not known
--   batch_count: sequences; NULL when not known
--   image_count: images of each prompt; NULL when not known, and in other stages
--   before_count: tokens in the context of each sequence before its first step; NULL when not known, and in other stages
--   token_count: tokens of all sequences that it worked on, prompts and decoded ones; NULL when not known
--   basis: who says so: workload (its facts) or annotation (the name of the range); NULL when nothing does
--   repeat: 1, 2, ... the run of the workload that it is of, where prof capture ran it several times; 1 otherwise

SELECT s.stage, s.pass_id AS pass, p.path,
    s.cpu_ns, s.gpu_span_ns, s.gpu_busy_ns, s.gpu_sum_ns, s.kernel_count, s.is_warmup, s.is_cold, s.start_ns, s.source_id, s.pid, s.range_id,
    coalesce(s.prompt_length_count, CASE WHEN s.prompt_count = 1 THEN s.prompt_token_count END) AS prefill_count, s.step_count AS decode_count, s.prompt_count + s.decode_count AS batch_count,
    s.image_count, s.before_count, s.prompt_token_count + s.decode_token_count AS token_count, s.basis, s.repeat_id AS repeat
FROM _stage_pass(run, device := device, source := source) s
JOIN range_path p ON p.run_id = run AND p.path_id = s.path_id
WHERE stage IS NULL OR s.stage = stage
ORDER BY s.source_id, s.start_ns, s.range_id
