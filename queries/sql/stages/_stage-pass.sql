-- _stage-pass: Each stage pass with its tokens, from the workload or the range names, and whether means exclude it.
-- grain: one outermost range of a stage
-- key: range_id
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only passes with work on it
--   {source}
-- columns:
--   stage: the stage, by stage_rule
--   range_id: the range
--   source_id: the source
--   pid: process
--   path_id: normalised names of the ranges, by range_path
--   start_ns: CPU start time
--   end_ns: CPU end time; NULL when it never ended
--   interval_ns: CPU start time to that of the next pass of its stage; NULL where that does not follow directly
--   is_warmup: whether means exclude it: as warm-up by a rule or by the workload, or because it was found cold or of other work
--   is_cold: whether it was found cold
--   is_unlike: whether it does other work than the other passes
--   basis: origin of the token counts: workload or annotation; NULL when unknown
--   prompt_count: sequences whose prompts it processed
--   prompt_length_count: tokens per prompt; NULL when prompts differ
--   prompt_token_count: tokens of all prompts
--   prompt_pair_count: query-key pairs of their attention, summed over sequences; NULL when unknown
--   prompt_square_count: squared token counts, summed; NULL when unknown
--   prompt_key_count: context tokens, summed; NULL when unknown
--   decode_count: generating sequences
--   step_count: forward passes that decode
--   decode_token_count: decoded tokens, all sequences together
--   before_count: context tokens per sequence before the first step; NULL when sequences differ
--   decode_key_count: query-key pairs of the decoded tokens' attention, summed; NULL when unknown
--   decode_context_count: context tokens per sequence and forward pass, summed: what is read from the KV cache; NULL when unknown
--   image_count: images per prompt; NULL when unknown
--   crop_count: crops per image; NULL when unknown
--   cpu_ns: CPU time; NULL when it never ended
--   lost_count: launches without work, and pieces of work whose record cannot be right, by loss; 0 when all its device work is known
--   gpu_span_ns: GPU span: first start to last end of its device work; NULL without device work, and when some of it is lost, like the next
--     six
--   gpu_busy_ns: GPU busy time: union of its device intervals, summed over GPUs
--   gpu_sum_ns: sum of the durations of its device work
--   kernel_sum_ns: sum of its kernel durations
--   kernel_count: number of kernels; NULL where graphs were traced as a whole, without their kernels
--   memop_count: copies and fills
--   graph_count: graph replays traced as a whole
--   device_count: GPUs that run its work
--   pass_id: pass number within the stage, source and process, from 1
--   is_ruled: whether a warm-up rule matches
--   repeat_id: repeat of the workload, from 1

SELECT
    p.stage,
    p.range_id,
    p.source_id,
    p.pid,
    p.path_id,
    p.start_ns,
    p.end_ns,
    p.interval_ns,
    p.is_warmup,
    p.is_cold,
    p.is_unlike,
    p.basis,
    p.prompt_count,
    p.prompt_length_count,
    p.prompt_token_count,
    p.prompt_pair_count,
    p.prompt_square_count,
    p.prompt_key_count,
    p.decode_count,
    p.step_count,
    p.decode_token_count,
    p.before_count,
    p.decode_key_count,
    p.decode_context_count,
    p.image_count,
    p.crop_count,
    p.cpu_ns,
    p.lost_count,
    CASE
        WHEN device IS NULL THEN p.gpu_span_ns
        WHEN p.lost_count = 0 THEN d.last_end_ns - d.first_start_ns
    END AS gpu_span_ns,
    CASE WHEN device IS NULL THEN p.gpu_busy_ns WHEN p.lost_count = 0 THEN d.busy_ns END AS gpu_busy_ns,
    CASE WHEN device IS NULL THEN p.gpu_sum_ns WHEN p.lost_count = 0 THEN d.sum_ns END AS gpu_sum_ns,
    CASE WHEN device IS NULL THEN p.kernel_sum_ns WHEN p.lost_count = 0 THEN d.kernel_sum_ns END AS kernel_sum_ns,
    CASE
        WHEN CASE WHEN device IS NULL THEN p.graph_count WHEN p.lost_count = 0 THEN d.graph_count END = 0
            THEN CASE WHEN device IS NULL THEN p.kernel_count WHEN p.lost_count = 0 THEN d.kernel_count END
    END AS kernel_count,
    CASE WHEN device IS NULL THEN p.memop_count WHEN p.lost_count = 0 THEN d.memop_count END AS memop_count,
    CASE WHEN device IS NULL THEN p.graph_count WHEN p.lost_count = 0 THEN d.graph_count END AS graph_count,
    CASE WHEN device IS NULL THEN p.device_count ELSE 1 END AS device_count,
    p.pass_id,
    p.is_ruled,
    p.repeat_id
FROM stage_pass p
JOIN _timeline(run, source := source) t ON t.source_id = p.source_id
LEFT JOIN range_device d ON d.run_id = p.run_id AND d.range_id = p.range_id AND d.device_id = device
WHERE p.run_id = run AND (device IS NULL OR d.range_id IS NOT NULL)
