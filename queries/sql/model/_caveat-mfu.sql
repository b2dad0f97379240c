-- _caveat-mfu: Why utilisation is unknown, or what it assumes.
-- grain: one caveat, as in the table caveat
-- key: kind, stage, subject, detail
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: as in mfu
--   {source}
--   model BIGINT = NULL: as in mfu
--   mla VARCHAR = 'expanded': as in mfu
--   compute VARCHAR = NULL: as in mfu
--   dtype VARCHAR = NULL: as in mfu
--   ranks VARCHAR = NULL: as in mfu
--   peak DOUBLE = NULL: as in mfu
--   bandwidth DOUBLE = NULL: as in mfu
-- columns:
--   kind: what it says
--   stage: the stage concerned
--   subject: what it is about
--   object: what else it names
--   detail: what else it says
--   item_count: how many
--   of_count: total that item_count is part of

WITH pass AS (
    SELECT
        p.stage,
        p.source_id,
        p.pid,
        p.range_id,
        p.gpu_span_ns,
        p.basis,
        p.image_count,
        p.crop_count,
        p.prompt_token_count,
        p.decode_token_count,
        p.prompt_pair_count,
        p.decode_key_count
    FROM _stage_pass(run, device := device, source := source) p
    WHERE NOT p.is_warmup
), stages AS (
    SELECT
        p.stage,
        bool_or(p.basis IS NULL) AS lacks_tokens,
        count(p.basis) AS told,
        count(p.basis) FILTER (p.gpu_span_ns IS NULL) AS workless,
        bool_or(p.decode_token_count > 0) AS decodes,
        bool_or(p.prompt_token_count > 0 AND p.image_count IS NULL) AS lacks_images,
        bool_or(p.prompt_token_count > 0 AND p.image_count > 0 AND p.crop_count IS NULL) AS lacks_crops,
        bool_or(p.basis = 'annotation') AS is_annotated,
        bool_or(
            p.basis = 'annotation'
            AND (
                p.prompt_token_count > 0 AND p.prompt_pair_count IS NULL
                OR p.decode_token_count > 0 AND p.decode_key_count IS NULL
            )
        ) AS lacks_contexts
    FROM pass p
    GROUP BY p.stage
), passes AS (
    SELECT
        count(*) > 0 AS are_there,
        bool_or(s.decodes) AS decode,
        bool_or(s.lacks_images) AS lack_images,
        bool_or(s.lacks_crops) AS lack_crops,
        bool_or(s.is_annotated) AS are_annotated,
        bool_or(s.lacks_contexts) AS lack_contexts,
        bool_or(s.told > 0) FILTER (s.stage = 'prefill') AS prefill
    FROM stages s
), chosen AS (
    SELECT m.model_id, m.name
    FROM model m
    WHERE m.run_id = run AND m.model_id = _model_id(run, model)
), layers AS (
    SELECT
        bool_or(l.scope = 'position' AND l.part NOT IN ('decoder', 'encoder')) AS vision,
        bool_or(l.part = 'encoder') AS encoder,
        bool_or(l.view = 'crop') AS crops,
        bool_or(l.scope = 'latent') AS latent,
        bool_or(l.window_size IS NOT NULL) AS windows,
        bool_or(l.weight_bits IS NOT NULL) AS quantised
    FROM model_layer l
    WHERE l.run_id = run AND l.model_id = (SELECT c.model_id FROM chosen c)
), precise AS (
    SELECT r.precision, r.origin, r.configured, r.seen
    FROM _run_precision(run, model := model, compute := compute, dtype := dtype, source := source) r
), roof AS (
    SELECT k.device, k.device_count, k.peak_flop_per_s, k.known
    FROM _peak(
        run,
        device := device,
        compute := (SELECT r.precision FROM precise r),
        peak := peak,
        bandwidth := bandwidth,
        source := source
    ) k
), vision AS (
    SELECT
        s.stage,
        s.note,
        s.note_path_id = s.path_id AND s.note IN ('vision', 'sam', 'clip', 'siglip', 'vit', 'projector') AS is_range
    FROM path_stage s
    WHERE s.run_id = run AND s.note IS NOT NULL
), one AS ( -- of the whole run
    SELECT unnest(
        [
            {
                'kind': CASE WHEN model IS NULL THEN 'no-model' ELSE 'no-such-model' END,
                'holds': c.model_id IS NULL,
                'subject': x.name,
                'object': NULL,
                'detail': model::VARCHAR
            },
            {
                'kind': CASE
                    WHEN k.device = '(unknown)' OR k.device IS NULL THEN 'use-of-unnamed-gpu'
                    WHEN k.device_count > 1 THEN 'use-of-several-gpus'
                    WHEN k.known IS NULL THEN 'use-without-peak'
                    WHEN r.origin = 'neither' THEN 'precisions-disagree'
                    WHEN r.precision IS NULL THEN 'precision-unknown'
                    ELSE 'no-peak-of-precision'
                END,
                'holds': k.peak_flop_per_s IS NULL,
                'subject': k.device,
                'object': CASE WHEN r.origin = 'neither' THEN r.configured ELSE r.precision END,
                'detail': CASE WHEN r.origin = 'neither' THEN r.seen ELSE k.known END
            },
            {
                'kind': 'passes-on-several-gpus',
                'holds': device IS NOT NULL
                    AND EXISTS (
                        SELECT 1
                        FROM range_device d JOIN pass p ON p.range_id = d.range_id
                        WHERE d.run_id = run AND d.device_id <> device AND p.basis IS NOT NULL
                    ),
                'subject': NULL,
                'object': NULL,
                'detail': NULL
            },
            {
                'kind': 'vision-outside-prefill',
                'holds': l.vision
                    AND EXISTS (
                        SELECT 1
                        FROM vision v
                        WHERE v.is_range AND v.stage IS DISTINCT FROM 'prefill'
                    ),
                'subject': NULL,
                'object': NULL,
                'detail': NULL
            },
            {
                'kind': 'precision-of-kernels',
                'holds': r.origin = 'kernels' AND c.model_id IS NOT NULL,
                'subject': NULL,
                'object': r.precision,
                'detail': NULL
            },
            {
                'kind': 'quantised-weights',
                'holds': r.origin = 'configuration' AND l.quantised,
                'subject': NULL,
                'object': r.precision,
                'detail': NULL
            },
            {
                'kind': CASE WHEN l.crops THEN 'images-and-crops-unknown' ELSE 'images-unknown' END,
                'holds': p.lack_images AND l.vision,
                'subject': x.name,
                'object': NULL,
                'detail': NULL
            },
            {
                'kind': 'crops-unknown',
                'holds': p.lack_crops AND l.crops,
                'subject': x.name,
                'object': NULL,
                'detail': NULL
            },
            {
                'kind': 'latent-cache-expanded',
                'holds': mla = 'expanded' AND l.latent AND p.decode,
                'subject': NULL,
                'object': NULL,
                'detail': NULL
            },
            {'kind': 'contexts-unknown', 'holds': p.lack_contexts, 'subject': NULL, 'object': NULL, 'detail': NULL},
            {
                'kind': 'source-unknown',
                'holds': p.are_annotated AND l.encoder,
                'subject': NULL,
                'object': NULL,
                'detail': NULL
            },
            {
                'kind': 'windows-unknown',
                'holds': p.are_annotated AND l.windows,
                'subject': NULL,
                'object': NULL,
                'detail': NULL
            }
        ],
        recursive := true
    )
    FROM run x
    CROSS JOIN passes p
    CROSS JOIN layers l
    CROSS JOIN precise r
    CROSS JOIN roof k
    LEFT JOIN chosen c ON true
    WHERE x.run_id = run AND p.are_there
)
SELECT o.kind, o.subject, o.object, o.detail
FROM one o
WHERE o.holds
UNION ALL BY NAME
SELECT
    'vision-not-in-model' AS kind,
    c.name AS subject,
    v.note AS object
FROM vision v CROSS JOIN chosen c CROSS JOIN layers l CROSS JOIN passes p
WHERE v.stage = 'prefill' AND p.prefill AND l.vision IS DISTINCT FROM true
GROUP BY c.name, v.note
UNION ALL BY NAME
SELECT
    CASE n.kind WHEN 'left_out' THEN 'use-left-out' ELSE 'model-unknown' END AS kind,
    n.note AS detail
FROM model_note n JOIN chosen c ON c.model_id = n.model_id
WHERE n.run_id = run AND n.kind <> 'assumed'
UNION ALL BY NAME
SELECT
    'stage-without-tokens' AS kind,
    s.stage,
    x.name AS object
FROM stages s JOIN run x ON x.run_id = run JOIN chosen c ON true
WHERE s.lacks_tokens
UNION ALL BY NAME
SELECT
    'passes-without-work' AS kind,
    s.stage,
    s.workless AS item_count,
    s.told AS of_count
FROM stages s
WHERE s.workless > 0
UNION ALL BY NAME
SELECT
    CASE
        WHEN any_value(h.is_shared)
            THEN CASE any_value(h.basis) WHEN 'facts' THEN 'processes-split-model' ELSE 'processes-share' END
        WHEN NOT any_value(h.is_shared) THEN 'processes-apart'
        WHEN any_value(h.process_count) = 1 THEN 'one-rank-of-several'
        ELSE 'several-processes'
    END AS kind,
    y.stage,
    coalesce(sum(y.n) FILTER (y.recording IS NULL), 0)::BIGINT
        + coalesce(max(y.n) FILTER (y.recording IS NOT NULL), 0) AS item_count
FROM ( -- as in mfu
    SELECT
        p.stage,
        k.recording,
        count(DISTINCT (p.source_id, p.pid)) AS n
    FROM pass p LEFT JOIN source_host k ON k.run_id = run AND k.source_id = p.source_id
    WHERE p.basis IS NOT NULL
    GROUP BY p.stage, k.recording
) y
LEFT JOIN stage_share h
    ON h.run_id = run
    AND h.stage = y.stage
    AND h.kind = coalesce(source, (SELECT min(t.kind) FROM timeline t WHERE t.run_id = run AND t.is_counted))
GROUP BY y.stage
HAVING (item_count > 1 OR any_value(h.stage) IS NOT NULL AND any_value(h.is_shared) IS NULL)
    AND any_value(ranks) IS NULL
