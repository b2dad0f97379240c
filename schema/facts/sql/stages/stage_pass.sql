-- stage_pass: Each stage pass of each timeline with its tokens, from the workload or the range names, and whether means exclude it as
--     warm-up, cold or of other work.
-- grain: one outermost range of a stage
-- key: range_id
-- needs: _stage_range
-- columns:
--   stage VARCHAR: the stage, by stage_rule
--   range_id BIGINT: the range
--   source_id INTEGER: the source
--   is_counted BOOLEAN: whether its source is of the counted kind
--   pass_id BIGINT: pass number within the stage, session and process, from 1: windows of one session count on
--   repeat_id BIGINT: repeat of the workload, from 1, when prof capture ran it several times; else 1
--   pid INTEGER: process
--   path_id BIGINT: normalised names of the ranges, by range_path
--   start_ns BIGINT: CPU start time
--   end_ns BIGINT: CPU end time; NULL when it never ended
--   interval_ns BIGINT: CPU start time to that of the next pass of its stage; NULL where that does not follow directly: another pass of its
--     process lies between, only one of the two is warm-up, or it is of another repeat
--   is_warmup BOOLEAN: whether means exclude it: as warm-up by a rule or by the workload, or because it was found cold or of other work
--   is_ruled BOOLEAN: whether a warm-up rule matches
--   is_cold BOOLEAN: whether it was found cold, see cold_pass
--   is_unlike BOOLEAN: whether it does other work than the other passes, see unlike_pass
--   basis VARCHAR: origin of the token counts: workload or annotation; NULL when unknown
--   prompt_count BIGINT: sequences whose prompts it processed
--   prompt_length_count BIGINT: tokens per prompt; NULL when prompts differ
--   prompt_token_count BIGINT: tokens of all prompts
--   prompt_pair_count BIGINT: query-key pairs of their attention, summed over sequences; NULL when unknown
--   prompt_square_count BIGINT: squared token counts, summed; NULL when unknown
--   prompt_key_count BIGINT: context tokens, summed; NULL when unknown
--   decode_count BIGINT: generating sequences
--   step_count BIGINT: forward passes that decode
--   decode_token_count BIGINT: decoded tokens, all sequences together
--   before_count BIGINT: context tokens per sequence before the first step; NULL when sequences differ
--   decode_key_count BIGINT: query-key pairs of the decoded tokens' attention, summed; NULL when unknown
--   decode_context_count BIGINT: context tokens per sequence and forward pass, summed: what is read from the KV cache; NULL when unknown
--   sequence_count BIGINT: sequences it processed; NULL when unknown
--   image_count BIGINT: images per prompt; NULL when unknown
--   crop_count BIGINT: crops per image; NULL when unknown
--   cpu_ns BIGINT: CPU time; NULL when it never ended
--   lost_count BIGINT: launches without work, and pieces of work whose record cannot be right, by loss; 0 when all its device work is known
--   gpu_span_ns BIGINT: GPU span: first start to last end of its device work; NULL without device work, and when some of it is lost, like
--     the next six
--   gpu_busy_ns BIGINT: GPU busy time: union of its device intervals, summed over GPUs
--   gpu_sum_ns BIGINT: sum of the durations of its device work
--   kernel_sum_ns BIGINT: sum of its kernel durations
--   kernel_count BIGINT: kernels
--   memop_count BIGINT: copies and fills
--   graph_count BIGINT: graph replays traced as a whole
--   device_count BIGINT: GPUs that run its work

WITH f AS (
    SELECT
        r.range_id,
        r.stage,
        r.is_ruled OR coalesce(f.is_warmup, false) OR c.range_id IS NOT NULL OR u.range_id IS NOT NULL AS is_warmup,
        c.range_id IS NOT NULL AS is_cold,
        u.range_id IS NOT NULL AS is_unlike,
        a.range_id IS NOT NULL AS is_annotated,
        coalesce(f.is_said, false) AS is_said,
        f.prefill_count AS p,
        f.batch_count AS b,
        f.step_count AS d,
        f.skipped_count AS skipped,
        f.image_count,
        f.crop_count,
        a.prompt_count,
        a.prompt_token_count,
        a.prompt_pair_count,
        a.prompt_square_count,
        a.prompt_key_count,
        a.decode_count,
        a.decode_token_count,
        a.decode_key_count,
        a.decode_context_count
    FROM _stage_range r
    LEFT JOIN _said_pass f ON f.range_id = r.range_id
    LEFT JOIN cold_pass c ON c.run_id = $run AND c.range_id = r.range_id
    LEFT JOIN unlike_pass u ON u.run_id = $run AND u.range_id = r.range_id
    LEFT JOIN _annotation a
        ON a.range_id = r.range_id AND a.prompt_token_count IS NOT NULL AND a.decode_token_count IS NOT NULL
), pass AS (
    SELECT
        r.stage,
        r.range_id,
        r.source_id,
        t.is_counted,
        row_number() OVER (PARTITION BY r.stage, r.series_id, r.pid ORDER BY r.nth_at_ns, r.range_id) AS pass_id,
        coalesce(x.repeat_id, 1) AS repeat_id,
        r.pid,
        r.path_id,
        r.start_ns,
        r.end_ns,
        f.is_warmup,
        r.is_ruled,
        f.is_cold,
        f.is_unlike,
        CASE WHEN f.is_annotated THEN 'annotation' WHEN f.is_said THEN 'workload' END AS basis,
        CASE
            WHEN f.is_annotated THEN f.prompt_count
            WHEN f.is_said THEN CASE f.stage WHEN 'prefill' THEN f.b ELSE 0 END
        END AS prompt_count,
        CASE WHEN f.is_said AND NOT f.is_annotated AND f.stage = 'prefill' THEN f.p END AS prompt_length_count,
        CASE
            WHEN f.is_annotated THEN f.prompt_token_count
            WHEN f.is_said THEN CASE f.stage WHEN 'prefill' THEN f.b * f.p ELSE 0 END
        END AS prompt_token_count,
        f.prompt_pair_count,
        f.prompt_square_count,
        f.prompt_key_count,
        CASE
            WHEN f.is_annotated THEN f.decode_count
            WHEN f.is_said THEN CASE f.stage WHEN 'decode' THEN f.b ELSE 0 END
        END AS decode_count,
        CASE
            WHEN f.is_annotated THEN least(f.decode_count, 1)
            WHEN f.is_said THEN CASE f.stage WHEN 'decode' THEN f.d ELSE 0 END
        END AS step_count,
        CASE
            WHEN f.is_annotated THEN f.decode_token_count
            WHEN f.is_said THEN CASE f.stage WHEN 'decode' THEN f.b * f.d ELSE 0 END
        END AS decode_token_count,
        CASE WHEN f.is_said AND NOT f.is_annotated AND f.stage = 'decode' THEN f.p + f.skipped END AS before_count,
        CASE
            WHEN f.is_annotated THEN f.decode_key_count
            WHEN f.is_said AND f.stage = 'decode'
                THEN (f.b * _context_sum(f.p + f.skipped + 1, f.p + f.skipped + f.d, NULL))::BIGINT
        END AS decode_key_count,
        CASE
            WHEN f.is_annotated THEN f.decode_context_count
            WHEN f.is_said AND f.stage = 'decode'
                THEN (f.b * _context_sum(f.p + f.skipped + 1, f.p + f.skipped + f.d, NULL))::BIGINT
        END AS decode_context_count,
        CASE WHEN f.is_said AND f.stage = 'prefill' THEN f.image_count END AS image_count,
        CASE WHEN f.is_said AND f.stage = 'prefill' THEN f.crop_count END AS crop_count,
        r.cpu_ns,
        r.lost_count,
        r.gpu_span_ns,
        r.gpu_busy_ns,
        r.gpu_sum_ns,
        r.kernel_sum_ns,
        r.kernel_count,
        r.memop_count,
        r.graph_count,
        r.device_count
    FROM _stage_range r
    JOIN timeline t ON t.run_id = $run AND t.source_id = r.source_id
    JOIN f ON f.range_id = r.range_id
    LEFT JOIN _source_repeat x ON x.source_id = r.source_id
)
SELECT
    p.stage,
    p.range_id,
    p.source_id,
    p.is_counted,
    p.pass_id,
    p.repeat_id,
    p.pid,
    p.path_id,
    p.start_ns,
    p.end_ns,
    CASE
        WHEN lead(row(p.stage, p.is_warmup, p.repeat_id)) OVER (
            PARTITION BY p.source_id, p.pid
            ORDER BY p.start_ns, p.range_id
        ) = row(p.stage, p.is_warmup, p.repeat_id)
            THEN lead(p.start_ns) OVER (PARTITION BY p.source_id, p.pid ORDER BY p.start_ns, p.range_id) - p.start_ns
    END AS interval_ns,
    p.is_warmup,
    p.is_ruled,
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
    p.prompt_count + p.decode_count AS sequence_count,
    p.image_count,
    p.crop_count,
    p.cpu_ns,
    p.lost_count,
    p.gpu_span_ns,
    p.gpu_busy_ns,
    p.gpu_sum_ns,
    p.kernel_sum_ns,
    p.kernel_count,
    p.memop_count,
    p.graph_count,
    p.device_count
FROM pass p
