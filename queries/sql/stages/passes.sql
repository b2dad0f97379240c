-- passes v7: Each pass of each stage in time order, warm-up included: the samples behind the means of stages.
-- grain: one outermost range of a stage
-- key: range_id
-- notes: timelines workload launch range recorded
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   device BIGINT = NULL: only work on this GPU, and only passes with work on it
--   {source}
-- columns:
--   stage: the stage, by stage_rule
--   pass: pass number within the stage, session and process, from 1: windows of one session count on
--   path: normalised range names, from the outermost range to the pass
--   cpu_ns: CPU time; NULL when it never ended
--   gpu_span_ns: GPU span: first start to last end of its device work; NULL without device work, and when some of it is lost, like the next
--     three
--   gpu_busy_ns: GPU busy time: union of its device intervals, summed over GPUs
--   gpu_sum_ns: sum of the durations of its kernels, copies, fills and graph replays
--   kernel_count: number of kernels; NULL where graphs were traced as a whole, without their kernels
--   is_warmup: whether stages excludes it: by a warm-up rule, by the workload, or because it was found cold or does other work
--   is_cold: whether it was found cold, see cold-passes
--   is_unlike: whether it does other work than the other passes: twice or half as many kernels, or more so, where three quarters are alike
--   start_ns: CPU start time, from the start of the source
--   interval_ns: CPU start time to that of the next pass of its stage; NULL where that does not follow directly: another pass of its
--     process lies between, only one of the two is warm-up, or it is of another repeat
--   source_id: the source
--   pid: process
--   range_id: the range
--   prefill_count: tokens per prompt that it processed; NULL when unknown, and in other stages
--   decode_count: decode steps per sequence, 0 in a prefill; NULL when unknown
--   batch_count: sequences; NULL when unknown
--   image_count: images per prompt; NULL when unknown, and in other stages
--   before_count: context tokens per sequence before its first step; NULL when unknown, and in other stages
--   token_count: tokens it processed, prompts and decoded, all sequences; NULL when unknown
--   token_time_ns: GPU span for each step, where it only decodes and makes one token for each sequence in every step; NULL for other
--     passes, and when unknown
--   basis: origin of the token counts: workload (its facts) or annotation (the range name); NULL when unknown
--   repeat: repeat of the workload, from 1, when prof capture ran it several times; else 1
--   lost_count: launches without work, and pieces of work whose record cannot be right, by losses: GPU times are unknown where there are
--     any

SELECT
    s.stage,
    s.pass_id AS pass,
    p.path,
    s.cpu_ns,
    s.gpu_span_ns,
    s.gpu_busy_ns,
    s.gpu_sum_ns,
    s.kernel_count,
    s.is_warmup,
    s.is_cold,
    s.is_unlike,
    s.start_ns,
    s.interval_ns,
    s.source_id,
    s.pid,
    s.range_id,
    coalesce(s.prompt_length_count, CASE WHEN s.prompt_count = 1 THEN s.prompt_token_count END) AS prefill_count,
    s.step_count AS decode_count,
    s.prompt_count + s.decode_count AS batch_count,
    s.image_count,
    s.before_count,
    s.prompt_token_count + s.decode_token_count AS token_count,
    s.gpu_span_ns / _token_steps(s.step_count, s.prompt_count, s.decode_count, s.decode_token_count) AS token_time_ns,
    s.basis,
    s.repeat_id AS repeat,
    s.lost_count
FROM _stage_pass(run, device := device, source := source) s
JOIN range_path p ON p.run_id = run AND p.path_id = s.path_id
WHERE stage IS NULL OR s.stage = stage
ORDER BY s.source_id, s.start_ns, s.range_id
