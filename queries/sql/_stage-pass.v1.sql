-- _stage-pass v1: Each pass of each stage with the tokens that it worked on, as the workload or the names of its ranges say, and whether it is warm-up by either.
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
--   is_warmup: whether a warm-up rule matches, or the workload says so
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
--   decode_key_count: tokens in the contexts of all decoded tokens, added up; NULL when not said
--   image_count: images of each prompt; NULL when not said
--   crop_count: crops of each image; NULL when not said
--   cpu_ns: time on the CPU; NULL when it never ended
--   gpu_span_ns: first start to last end of its device work; NULL when it has none
--   gpu_busy_ns: union of its device intervals, added up over devices
--   gpu_sum_ns: sum of the durations of its device work
--   kernel_sum_ns: sum of the durations of its kernels
--   kernel_count: kernels
--   memop_count: copies and fills
--   graph_count: graph replays traced as a whole

-- The workload lists its measured passes; those of the timeline before the last of as many are warm-up. Where the timeline has more
-- passes of decode than of prefill, and at least as many as steps were decoded, each of its passes is one step.
WITH r AS (
    SELECT r.stage, r.range_id, r.source_id, r.pid, r.path_id, r.start_ns, r.end_ns, r.is_ruled, r.back_count, r.stage_count, r.prefill_count,
        r.cpu_ns, r.gpu_span_ns, r.gpu_busy_ns, r.gpu_sum_ns, r.kernel_sum_ns, r.kernel_count, r.memop_count, r.graph_count
    FROM _stage_range_v1(run, device := device, source := source) r
), e AS (
    SELECT e.back_count, e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count, e.later_count, e.warmup_count FROM _workload_entry_v1(run, source := source) e
), said AS (
    SELECT count(*) FILTER (e.back_count > 0) AS listed, coalesce(sum(e.decode_count) FILTER (e.back_count > 0), 0)::BIGINT AS steps,
        max(e.decode_count) FILTER (e.back_count = 0) AS each_steps, coalesce(max(e.warmup_count), 0) AS warmups FROM e HAVING count(*) > 0
), placed AS (
    SELECT r.range_id, s.listed, s.each_steps, coalesce(nullif(r.prefill_count, 0), CASE WHEN s.listed > 0 THEN s.listed ELSE r.stage_count END) AS whole,
        CASE WHEN s.listed > 0 THEN s.listed ELSE greatest(whole - s.warmups, 0) END AS passes, CASE WHEN s.listed > 0 THEN s.steps ELSE passes * s.each_steps END AS all_steps,
        coalesce(r.stage = 'decode' AND r.stage_count > whole AND r.stage_count >= all_steps AND all_steps > passes, false) AS is_step
    FROM r CROSS JOIN said s
    WHERE r.stage IN ('prefill', 'decode') AND NOT r.is_ruled AND r.stage_count >= s.listed
), fact AS (
    SELECT r.stage, r.range_id, r.source_id, r.pid, r.path_id, r.start_ns, r.end_ns, r.is_ruled OR coalesce(r.back_count > CASE WHEN p.is_step THEN p.all_steps ELSE p.passes END, false) AS is_warmup,
        a.range_id IS NOT NULL AS is_annotated, e.back_count IS NOT NULL AND (r.stage = 'prefill' OR r.stage = 'decode') AS is_said, e.prefill_count AS p, e.batch_count AS b, e.image_count, e.crop_count,
        CASE WHEN p.is_step THEN least(e.decode_count, 1) ELSE e.decode_count END AS d,
        CASE WHEN NOT p.is_step THEN 0 WHEN p.listed > 0 THEN e.decode_count - (r.back_count - e.later_count) ELSE (p.each_steps - 1) - (r.back_count - 1) % p.each_steps END AS skipped,
        a.prompt_count, a.prompt_token_count, a.prompt_pair_count, a.prompt_square_count, a.prompt_key_count, a.decode_count, a.decode_token_count, a.decode_key_count,
        r.cpu_ns, r.gpu_span_ns, r.gpu_busy_ns, r.gpu_sum_ns, r.kernel_sum_ns, r.kernel_count, r.memop_count, r.graph_count
    FROM r
    LEFT JOIN placed p ON p.range_id = r.range_id
    LEFT JOIN e ON CASE WHEN p.listed = 0 THEN e.back_count = 0 WHEN p.is_step THEN r.back_count > e.later_count AND r.back_count <= e.later_count + e.decode_count ELSE e.back_count = r.back_count END
    LEFT JOIN _annotation_v1(run, source := source) a ON a.range_id = r.range_id
)
SELECT f.stage, f.range_id, f.source_id, f.pid, f.path_id, f.start_ns, f.end_ns, f.is_warmup,
    CASE WHEN f.is_annotated THEN 'annotation' WHEN f.is_said THEN 'workload' END AS basis,
    CASE WHEN f.is_annotated THEN f.prompt_count WHEN f.is_said THEN CASE f.stage WHEN 'prefill' THEN f.b ELSE 0 END END AS prompt_count,
    CASE WHEN f.is_said AND NOT f.is_annotated AND f.stage = 'prefill' THEN f.p END AS prompt_length_count,
    CASE WHEN f.is_annotated THEN f.prompt_token_count WHEN f.is_said THEN CASE f.stage WHEN 'prefill' THEN f.b * f.p ELSE 0 END END AS prompt_token_count,
    f.prompt_pair_count, f.prompt_square_count, f.prompt_key_count,
    CASE WHEN f.is_annotated THEN f.decode_count WHEN f.is_said THEN CASE f.stage WHEN 'decode' THEN f.b ELSE 0 END END AS decode_count,
    CASE WHEN f.is_annotated THEN least(f.decode_count, 1) WHEN f.is_said THEN CASE f.stage WHEN 'decode' THEN f.d ELSE 0 END END AS step_count,
    CASE WHEN f.is_annotated THEN f.decode_token_count WHEN f.is_said THEN CASE f.stage WHEN 'decode' THEN f.b * f.d ELSE 0 END END AS decode_token_count,
    CASE WHEN f.is_said AND NOT f.is_annotated AND f.stage = 'decode' THEN f.p + f.skipped END AS before_count,
    CASE WHEN f.is_annotated THEN f.decode_key_count WHEN f.is_said AND f.stage = 'decode' THEN (f.b * _context_sum_v1(f.p + f.skipped + 1, f.p + f.skipped + f.d, NULL))::BIGINT END AS decode_key_count,
    CASE WHEN f.is_said AND f.stage = 'prefill' THEN f.image_count END AS image_count, CASE WHEN f.is_said AND f.stage = 'prefill' THEN f.crop_count END AS crop_count,
    f.cpu_ns, f.gpu_span_ns, f.gpu_busy_ns, f.gpu_sum_ns, f.kernel_sum_ns, f.kernel_count, f.memop_count, f.graph_count
FROM fact f
