-- stage_pass: Each pass of each stage of each timeline with the tokens that it worked on, as the workload or the names of its ranges say, and whether it is warm-up by either.
-- grain: one outermost range of a stage
-- key: range_id
-- needs: nvtx_range
-- columns:
--   stage VARCHAR: the stage, by stage_rule
--   range_id BIGINT: the range
--   source_id INTEGER: the source
--   is_counted BOOLEAN: whether its source is of the counted kind
--   pass_id BIGINT: 1, 2, ... within the stage, source and process
--   repeat_id BIGINT: 1, 2, ... the run of the workload that the source is of, where prof capture ran it several times; 1 otherwise
--   pid INTEGER: process
--   path_id BIGINT: path of names
--   start_ns BIGINT: start on the CPU
--   end_ns BIGINT: end on the CPU; NULL when it never ended
--   is_warmup BOOLEAN: whether a warm-up rule matches, or the workload says so
--   is_ruled BOOLEAN: whether a warm-up rule matches it
--   basis VARCHAR: where the tokens are from: workload or annotation; NULL when nothing says
--   prompt_count BIGINT: sequences whose prompts were worked on
--   prompt_length_count BIGINT: tokens of each prompt; NULL when they differ
--   prompt_token_count BIGINT: tokens of all prompts
--   prompt_pair_count BIGINT: queries times keys of their attention, added up over sequences; NULL when not said
--   prompt_square_count BIGINT: squares of their tokens, added up; NULL when not said
--   prompt_key_count BIGINT: tokens in their contexts, added up; NULL when not said
--   decode_count BIGINT: generating sequences
--   step_count BIGINT: forward passes that decode
--   decode_token_count BIGINT: tokens of all sequences that were decoded
--   before_count BIGINT: tokens in the context of each sequence before the first step; NULL when they differ
--   decode_key_count BIGINT: queries times keys of the decoded tokens' attention, added up; NULL when not said
--   decode_context_count BIGINT: tokens in the contexts of each sequence and forward pass, added up: what is read of the cache; NULL when not said
--   sequence_count BIGINT: sequences that were worked on; NULL when nothing says
--   image_count BIGINT: images of each prompt; NULL when not said
--   crop_count BIGINT: crops of each image; NULL when not said
--   cpu_ns BIGINT: time on the CPU; NULL when it never ended
--   gpu_span_ns BIGINT: first start to last end of its device work; NULL when it has none
--   gpu_busy_ns BIGINT: union of its device intervals, added up over devices
--   gpu_sum_ns BIGINT: sum of the durations of its device work
--   kernel_sum_ns BIGINT: sum of the durations of its kernels
--   kernel_count BIGINT: kernels
--   memop_count BIGINT: copies and fills
--   graph_count BIGINT: graph replays traced as a whole
--   device_count BIGINT: GPUs that it has work on

-- Passes of the workload are those of the timeline counted from the last one. Passes of another stage that are as many as the prefills go
-- with them; other passes of decode go with the prefill that they follow. Where these are several, and more than half as many as the steps
-- that were decoded, each is one step: equal parts of several steps would be fewer. Without prefills they are steps where they are enough
-- for all steps, or named so. Of a workload that lists more passes than the timeline has, only what all its passes have in common is used.
WITH r AS (
    SELECT t.kind, t.is_counted, r.stage, r.range_id, r.source_id, r.pid, r.path_id, r.raw_name, r.start_ns, r.end_ns, r.is_ruled, r.back_count, r.stage_count, r.prefill_count, r.nth_prefill_count, r.nth, r.group_count,
        r.cpu_ns, r.gpu_span_ns, r.gpu_busy_ns, r.gpu_sum_ns, r.kernel_sum_ns, r.kernel_count, r.memop_count, r.graph_count, r.device_count
    FROM _stage_range r JOIN timeline t ON t.run_id = $run AND t.source_id = r.source_id
), e AS (
    SELECT e.kind, e.back_count, e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count, e.later_count, e.warmup_count, e.is_warmup FROM workload_entry e WHERE e.run_id = $run
), said AS ( -- listed is the first measured pass; 0 where one row holds for every pass
    SELECT e.kind, coalesce(max(e.back_count) FILTER (NOT e.is_warmup), max(e.back_count)) AS listed, coalesce(max(e.warmup_count), 0) AS warmups, CASE WHEN bool_and(e.decode_count IS NOT NULL) FILTER (NOT e.is_warmup) THEN max(e.later_count + e.decode_count) FILTER (NOT e.is_warmup) END AS steps,
        count(DISTINCT (e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count)) FILTER (NOT e.is_warmup) = 1 AS is_alike
    FROM e GROUP BY e.kind
), way AS (
    SELECT r.kind, r.range_id, r.stage, r.back_count, r.stage_count - r.back_count AS before, s.listed, s.warmups, s.steps, s.is_alike, r.nth, r.group_count, max(r.group_count) OVER (PARTITION BY r.stage, r.source_id, r.pid) AS most,
        r.stage = 'decode' AND r.prefill_count NOT IN (0, r.stage_count) AS follows,
        r.stage = 'decode' AND r.prefill_count = 0 AND coalesce(s.steps > greatest(s.listed, 1), false) AND CASE s.listed WHEN 0 THEN regexp_matches(r.raw_name, '(?i)decode[ _-]?(step|forward|iter|iteration)\b') ELSE r.stage_count >= s.steps END AS is_step,
        CASE WHEN r.prefill_count > 0 THEN r.prefill_count WHEN is_step AND s.listed = 0 THEN (r.stage_count + s.steps - 1) // s.steps ELSE r.stage_count END AS passes,
        CASE WHEN follows THEN r.prefill_count - r.nth_prefill_count + 1 WHEN NOT is_step THEN r.back_count WHEN s.listed = 0 THEN passes - before // s.steps END AS place
    FROM r JOIN said s ON s.kind = r.kind
    WHERE NOT r.is_ruled AND (r.stage IN ('prefill', 'decode') OR r.stage_count = r.prefill_count)
), placed AS (
    SELECT w.kind, w.range_id, w.stage, w.back_count, w.before, w.listed, w.steps, w.is_step, w.nth, CASE WHEN w.follows AND w.most > 1 THEN w.group_count END AS parts, CASE WHEN w.place = 1 THEN w.most ELSE w.group_count END AS whole_parts, -- the last pass may be cut off
        coalesce(w.place, CASE WHEN w.back_count <= b.later_count + b.decode_count THEN b.back_count END, w.listed + 1) AS at_pass, at_pass <= w.passes AS is_begun,
        w.warmups > 0 AND at_pass > w.passes - w.warmups OR w.listed > 0 AND w.passes >= w.listed AND at_pass > w.listed AS is_before,
        CASE WHEN w.listed = 0 THEN 0 WHEN w.passes >= w.listed THEN at_pass WHEN w.is_alike THEN w.listed END AS said_count
    FROM way w ASOF LEFT JOIN (SELECT e.kind, e.back_count, e.later_count, e.decode_count FROM e WHERE e.decode_count > 0) b ON b.kind = w.kind AND CASE WHEN w.place IS NULL THEN w.back_count END > b.later_count
), fact AS (
    SELECT p.range_id, p.is_before OR coalesce(e.is_warmup, false) AS is_warmup, e.prefill_count AS p, e.batch_count AS b, e.image_count, e.crop_count,
        CASE WHEN p.is_step THEN CASE WHEN e.decode_count > 0 THEN 1 END WHEN p.parts IS NULL THEN e.decode_count WHEN p.parts = e.decode_count OR p.is_begun AND p.parts < e.decode_count AND e.decode_count < 2 * p.whole_parts THEN 1 END AS d,
        CASE WHEN p.parts IS NOT NULL THEN p.nth - 1 WHEN NOT p.is_step THEN 0 WHEN p.listed = 0 THEN p.before % p.steps ELSE e.decode_count - (p.back_count - e.later_count) END AS skipped,
        CASE p.stage WHEN 'prefill' THEN coalesce(e.prefill_count, e.image_count) IS NOT NULL WHEN 'decode' THEN d IS NOT NULL ELSE false END AS is_said
    FROM placed p LEFT JOIN e ON e.kind = p.kind AND e.back_count = p.said_count
), f AS (
    SELECT r.range_id, r.stage, r.is_ruled OR coalesce(f.is_warmup, false) AS is_warmup, a.range_id IS NOT NULL AS is_annotated, coalesce(f.is_said, false) AS is_said, f.p, f.b, f.d, f.skipped, f.image_count, f.crop_count,
        a.prompt_count, a.prompt_token_count, a.prompt_pair_count, a.prompt_square_count, a.prompt_key_count, a.decode_count, a.decode_token_count, a.decode_key_count, a.decode_context_count
    FROM r LEFT JOIN fact f ON f.range_id = r.range_id LEFT JOIN _annotation a ON a.range_id = r.range_id AND a.prompt_token_count IS NOT NULL AND a.decode_token_count IS NOT NULL
), said_pass AS (
    SELECT r.stage, r.range_id, r.source_id, r.is_counted, row_number() OVER (PARTITION BY r.stage, r.source_id, r.pid ORDER BY r.start_ns, r.range_id) AS pass_id, coalesce(x.repeat_id, 1) AS repeat_id,
        r.pid, r.path_id, r.start_ns, r.end_ns, f.is_warmup, r.is_ruled,
        CASE WHEN f.is_annotated THEN 'annotation' WHEN f.is_said THEN 'workload' END AS basis,
        CASE WHEN f.is_annotated THEN f.prompt_count WHEN f.is_said THEN CASE f.stage WHEN 'prefill' THEN f.b ELSE 0 END END AS prompt_count,
        CASE WHEN f.is_said AND NOT f.is_annotated AND f.stage = 'prefill' THEN f.p END AS prompt_length_count,
        CASE WHEN f.is_annotated THEN f.prompt_token_count WHEN f.is_said THEN CASE f.stage WHEN 'prefill' THEN f.b * f.p ELSE 0 END END AS prompt_token_count,
        f.prompt_pair_count, f.prompt_square_count, f.prompt_key_count,
        CASE WHEN f.is_annotated THEN f.decode_count WHEN f.is_said THEN CASE f.stage WHEN 'decode' THEN f.b ELSE 0 END END AS decode_count,
        CASE WHEN f.is_annotated THEN least(f.decode_count, 1) WHEN f.is_said THEN CASE f.stage WHEN 'decode' THEN f.d ELSE 0 END END AS step_count,
        CASE WHEN f.is_annotated THEN f.decode_token_count WHEN f.is_said THEN CASE f.stage WHEN 'decode' THEN f.b * f.d ELSE 0 END END AS decode_token_count,
        CASE WHEN f.is_said AND NOT f.is_annotated AND f.stage = 'decode' THEN f.p + f.skipped END AS before_count,
        CASE WHEN f.is_annotated THEN f.decode_key_count WHEN f.is_said AND f.stage = 'decode' THEN (f.b * _context_sum(f.p + f.skipped + 1, f.p + f.skipped + f.d, NULL))::BIGINT END AS decode_key_count,
        CASE WHEN f.is_annotated THEN f.decode_context_count WHEN f.is_said AND f.stage = 'decode' THEN (f.b * _context_sum(f.p + f.skipped + 1, f.p + f.skipped + f.d, NULL))::BIGINT END AS decode_context_count,
        CASE WHEN f.is_said AND f.stage = 'prefill' THEN f.image_count END AS image_count, CASE WHEN f.is_said AND f.stage = 'prefill' THEN f.crop_count END AS crop_count,
        r.cpu_ns, r.gpu_span_ns, r.gpu_busy_ns, r.gpu_sum_ns, r.kernel_sum_ns, r.kernel_count, r.memop_count, r.graph_count, r.device_count
    FROM r JOIN f ON f.range_id = r.range_id
    LEFT JOIN _source_repeat x ON x.source_id = r.source_id
)
SELECT p.stage, p.range_id, p.source_id, p.is_counted, p.pass_id, p.repeat_id, p.pid, p.path_id, p.start_ns, p.end_ns, p.is_warmup, p.is_ruled, p.basis, p.prompt_count, p.prompt_length_count, p.prompt_token_count, p.prompt_pair_count, p.prompt_square_count, p.prompt_key_count, p.decode_count, p.step_count, p.decode_token_count, p.before_count, p.decode_key_count, p.decode_context_count, p.prompt_count + p.decode_count AS sequence_count, p.image_count, p.crop_count, p.cpu_ns, p.gpu_span_ns, p.gpu_busy_ns, p.gpu_sum_ns, p.kernel_sum_ns, p.kernel_count, p.memop_count, p.graph_count, p.device_count
FROM said_pass p
