-- _stage-pass: Each pass of each stage with the tokens that it worked on, as the workload or the names of its ranges say, and whether it is warm-up by either.
-- grain: one outermost range of a stage
-- key: range_id
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only passes that have some
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage, by stage_rule
--   range_id: the range
--   source_id: the source
--   pid: process
--   path_id: path of names
--   start_ns: start on the CPU
--   end_ns: end on the CPU; NULL when it never ended
--   is_warmup: whether a warm-up rule matches, the workload says so, or it was found cold
--   is_cold: whether it was found cold
--   basis: where the tokens are from: workload or annotation; NULL when nothing says
--   prompt_count: sequences whose prompts were worked on
--   prompt_length_count: tokens of each prompt; NULL when they differ
--   prompt_token_count: tokens of all prompts
--   prompt_pair_count: queries times keys of their attention, added up over sequences; NULL when not said
--   prompt_square_count: squares of their tokens, added up; NULL when not said
--   prompt_key_count: tokens in their contexts, added up; NULL when not said
--   decode_count: generating sequences
--   step_count: forward passes that decode
--   decode_token_count: tokens of all sequences that were decoded
--   before_count: tokens in the context of each sequence before the first step; NULL when they differ
--   decode_key_count: queries times keys of the decoded tokens' attention, added up; NULL when not said
--   decode_context_count: tokens in the contexts of each sequence and forward pass, added up: what is read of the cache; NULL when not said
--   image_count: images of each prompt; NULL when not said
--   crop_count: crops of each image; NULL when not said
--   cpu_ns: time on the CPU; NULL when it never ended
--   gpu_span_ns: first start to last end of its device work; NULL when it has none
--   gpu_busy_ns: union of its device intervals, added up over devices
--   gpu_sum_ns: sum of the durations of its device work
--   kernel_sum_ns: sum of the durations of its kernels
--   kernel_count: kernels; NULL where graphs were traced as a whole, whose kernels are not seen
--   memop_count: copies and fills
--   graph_count: graph replays traced as a whole
--   device_count: GPUs that it has work on
--   pass_id: 1, 2, ... within the stage, source and process
--   is_ruled: whether a warm-up rule matches it
--   repeat_id: 1, 2, ... the run of the workload

SELECT p.stage, p.range_id, p.source_id, p.pid, p.path_id, p.start_ns, p.end_ns, p.is_warmup, p.is_cold, p.basis, p.prompt_count, p.prompt_length_count, p.prompt_token_count, p.prompt_pair_count, p.prompt_square_count, p.prompt_key_count, p.decode_count, p.step_count, p.decode_token_count, p.before_count, p.decode_key_count, p.decode_context_count, p.image_count, p.crop_count, p.cpu_ns,
    CASE WHEN device IS NULL THEN p.gpu_span_ns ELSE d.last_end_ns - d.first_start_ns END AS gpu_span_ns, CASE WHEN device IS NULL THEN p.gpu_busy_ns ELSE d.busy_ns END AS gpu_busy_ns,
    CASE WHEN device IS NULL THEN p.gpu_sum_ns ELSE d.sum_ns END AS gpu_sum_ns, CASE WHEN device IS NULL THEN p.kernel_sum_ns ELSE d.kernel_sum_ns END AS kernel_sum_ns,
    CASE WHEN CASE WHEN device IS NULL THEN p.graph_count ELSE d.graph_count END = 0 THEN CASE WHEN device IS NULL THEN p.kernel_count ELSE d.kernel_count END END AS kernel_count, CASE WHEN device IS NULL THEN p.memop_count ELSE d.memop_count END AS memop_count,
    CASE WHEN device IS NULL THEN p.graph_count ELSE d.graph_count END AS graph_count, CASE WHEN device IS NULL THEN p.device_count ELSE 1 END AS device_count, p.pass_id, p.is_ruled, p.repeat_id
FROM stage_pass p
JOIN _timeline(run, source := source) t ON t.source_id = p.source_id
LEFT JOIN range_device d ON d.run_id = p.run_id AND d.range_id = p.range_id AND d.device_id = device
WHERE p.run_id = run AND (device IS NULL OR d.range_id IS NOT NULL)
