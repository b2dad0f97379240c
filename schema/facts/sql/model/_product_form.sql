-- _product_form: How well the segments of each stage fit each form of the model's layers, by order and count.
-- grain: one segment that fits a form, between two attentions, before the first or behind the last
-- key: form_id, source_id, device_id, range_id, segment
-- needs: kernel stage_pass model_layer
-- columns:
--   form_id INTEGER: the form, as in _product_slot
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   range_id BIGINT: the pass
--   segment BIGINT: as in _product_call
--   layer_after INTEGER: layer whose attention it follows; NULL for the first
--   layer_before INTEGER: layer whose attention it precedes; NULL for the last
--   after_count BIGINT: products that belong to layer_after, with those of attention
--   head_count BIGINT: products behind these that belong to the head
--   before_count BIGINT: products at the end that belong to layer_before, with those of attention
--   extra_count BIGINT: products between these, which are no layer's
--   stage VARCHAR: the stage

WITH side AS (
    SELECT
        s.form_id,
        s.layer,
        s.side,
        string_agg(s.token, '' ORDER BY s.nth) AS tokens
    FROM _product_slot s
    GROUP BY s.form_id, s.layer, s.side
), deep AS (
    SELECT max(s.layer) + 1 AS layer_count
    FROM _product_slot s
), pass AS (
    SELECT
        p.range_id,
        CASE WHEN p.prompt_token_count > 0 THEN 1 ELSE p.step_count END AS forward_count
    FROM stage_pass p
    WHERE p.run_id = $run
), segment AS (
    SELECT
        c.source_id,
        c.device_id,
        c.stage,
        c.range_id,
        c.segment,
        any_value(c.segment_count) AS segment_count,
        any_value(c.is_eager) AS is_eager,
        string_agg(c.token, '' ORDER BY c.nth) AS tokens
    FROM (
        SELECT DISTINCT c.source_id, c.device_id, c.stage, c.range_id, c.segment, c.segment_count, c.is_eager, c.nth, c.token
        FROM _product_call c
        WHERE NOT c.is_vision
    ) c
    GROUP BY c.source_id, c.device_id, c.stage, c.range_id, c.segment
), around AS (
    SELECT
        s.*,
        CASE WHEN s.segment > 0 THEN (s.segment - 1) % d.layer_count END::INTEGER AS layer_after,
        CASE WHEN s.segment < s.segment_count THEN s.segment % d.layer_count END::INTEGER AS layer_before,
        s.segment % d.layer_count = 0 AS is_edge
    FROM segment s
    CROSS JOIN deep d
    JOIN pass p ON p.range_id = s.range_id AND s.segment_count = p.forward_count * d.layer_count
), fit AS (
    SELECT
        f.form_id,
        a.*,
        CASE WHEN a.is_eager AND a.layer_after IS NOT NULL THEN 'G' ELSE '' END || coalesce(e.tokens, '') AS after,
        CASE WHEN a.is_edge AND a.layer_after IS NOT NULL THEN coalesce(h.tokens, '') ELSE '' END AS head,
        coalesce(b.tokens, '') || CASE WHEN a.is_eager AND a.layer_before IS NOT NULL THEN 'G' ELSE '' END AS before
    FROM around a
    CROSS JOIN (SELECT DISTINCT s.form_id FROM _product_slot s) f
    LEFT JOIN side e ON e.form_id = f.form_id AND e.layer = a.layer_after AND e.side = 'after'
    LEFT JOIN side h ON h.form_id = f.form_id AND h.side = 'head'
    LEFT JOIN side b ON b.form_id = f.form_id AND b.layer = a.layer_before AND b.side = 'before'
)
SELECT
    f.form_id,
    f.source_id,
    f.device_id,
    f.range_id,
    f.segment,
    f.layer_after,
    f.layer_before,
    length(f.after) AS after_count,
    length(f.head) AS head_count,
    length(f.before) AS before_count,
    length(f.tokens) - length(f.after) - length(f.head) - length(f.before) AS extra_count,
    f.stage
FROM fit f
WHERE CASE
        WHEN f.is_edge
            THEN starts_with(f.tokens, f.after || f.head)
                AND ends_with(f.tokens, f.before)
                AND length(f.tokens) >= length(f.after) + length(f.head) + length(f.before)
        ELSE f.tokens = f.after || f.before
    END
