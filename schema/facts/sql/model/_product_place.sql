-- _product_place: Kernels that multiply matrices with the product that each form of the model's layers has in their place.
-- grain: one kernel in a form that its segment fits
-- key: form_id, source_id, device_id, range_id, main_no
-- needs: kernel stage_pass model_layer
-- columns:
--   form_id INTEGER: the form, as in _product_slot
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   stage VARCHAR: the stage
--   range_id BIGINT: the pass
--   main_no BIGINT: as in _product_call
--   is_last BOOLEAN: whether it is behind the last attention of its pass
--   side VARCHAR: as in _product_slot
--   layer INTEGER: the layer; NULL for the head
--   layer_group VARCHAR: as in _product_slot; NULL for products of attention, like all below but component and rows
--   component VARCHAR: as in _product_slot, or attention scores or attention values
--   token VARCHAR: as in _product_slot
--   input_size BIGINT: as in _product_slot
--   output_size BIGINT: as in _product_slot
--   bias_count BIGINT: as in _product_slot
--   weight_bits DOUBLE: as in _product_slot
--   split VARCHAR: as in _product_slot
--   kv_head_count BIGINT: as in _product_slot
--   kernel_name_id BIGINT: name
--   kernel_shape_id BIGINT: launch shape
--   rank_count BIGINT: ranks that share the pass; NULL when not known
--   row_count BIGINT: rows that it multiplies; for the head if it computes logits of the last position alone; NULL when not known
--   all_row_count BIGINT: tokens of its forward pass; NULL when not known
--   is_usual BOOLEAN: whether most other layers run the same kernel in this place, or its rows are not known

WITH tokens AS (
    SELECT
        p.range_id,
        CASE
            WHEN p.basis IS NULL OR p.prompt_token_count = 0 AND p.decode_token_count <> p.decode_count * p.step_count THEN NULL
            WHEN p.prompt_token_count > 0 THEN p.prompt_token_count + p.decode_token_count
            ELSE p.decode_count
        END AS row_count,
        p.prompt_count + p.decode_count AS last_count,
        CASE
            WHEN p.decode_token_count = 0 AND (p.basis = 'workload' OR p.prompt_key_count = p.prompt_token_count)
                THEN p.prompt_token_count
        END AS latent_count,
        CASE
            WHEN t.device_count > 1 THEN NULL
            WHEN t.process_count = 1 OR NOT t.is_shared THEN 1
            WHEN t.is_shared THEN t.process_count
        END AS rank_count
    FROM stage_pass p
    LEFT JOIN pass_time t
        ON t.run_id = $run
        AND t.range_id = p.range_id
        AND t.stage = p.stage
        AND t.device_id IS NULL
    WHERE p.run_id = $run
), hit AS ( -- each call in each form that its segment fits
    SELECT
        f.form_id,
        c.source_id,
        c.device_id,
        c.stage,
        c.range_id,
        c.main_no,
        c.kernel_name_id,
        c.kernel_shape_id,
        c.segment = c.segment_count AS is_last,
        CASE
            WHEN c.nth <= f.after_count THEN 'after'
            WHEN c.nth <= f.after_count + f.head_count THEN 'head'
            ELSE 'before'
        END AS side,
        CASE side WHEN 'after' THEN f.layer_after WHEN 'before' THEN f.layer_before END AS layer,
        CASE side
            WHEN 'after' THEN c.nth - c.is_eager::INTEGER
            WHEN 'head' THEN c.nth - f.after_count
            ELSE f.before_count - c.nth_back + 1
        END AS nth,
        CASE
            WHEN c.is_eager AND side = 'after' AND c.nth = 1 THEN 'attention values'
            WHEN c.is_eager AND side = 'before' AND c.nth_back = 1 THEN 'attention scores'
        END AS attention
    FROM _product_call c
    JOIN _product_form f
        ON f.source_id = c.source_id
        AND f.device_id = c.device_id
        AND f.range_id = c.range_id
        AND f.segment = c.segment
    WHERE NOT c.is_vision AND (c.nth <= f.after_count + f.head_count OR c.nth_back <= f.before_count)
), named AS (
    SELECT
        h.*,
        s.layer_group,
        coalesce(h.attention, s.component) AS component,
        s.token,
        s.input_size,
        s.output_size,
        s.bias_count,
        s.weight_bits,
        s.split,
        s.kv_head_count,
        t.rank_count,
        CASE
            WHEN h.attention IS NOT NULL OR s.token = 'X' THEN NULL
            WHEN h.side = 'head' THEN t.last_count
            WHEN s.is_latent THEN t.latent_count
            ELSE t.row_count
        END AS row_count,
        t.row_count AS all_row_count
    FROM hit h
    JOIN tokens t ON t.range_id = h.range_id
    LEFT JOIN _product_slot s
        ON h.attention IS NULL
        AND s.form_id = h.form_id
        AND s.side = h.side
        AND s.layer IS NOT DISTINCT FROM h.layer
        AND s.nth = h.nth
), usual AS ( -- what all layers run in a place; not of products whose sizes change from call to call
    SELECT
        n.form_id,
        n.source_id,
        n.device_id,
        n.stage,
        n.layer_group,
        n.component,
        n.row_count,
        n.kernel_name_id,
        n.kernel_shape_id,
        count(*) AS call_count
    FROM named n
    WHERE n.row_count IS NOT NULL
    GROUP BY n.form_id, n.source_id, n.device_id, n.stage, n.layer_group, n.component, n.row_count, n.kernel_name_id,
        n.kernel_shape_id
    QUALIFY row_number() OVER (
            PARTITION BY n.form_id, n.source_id, n.device_id, n.stage, n.layer_group, n.component, n.row_count
            ORDER BY call_count DESC, n.kernel_name_id, n.kernel_shape_id
        )
            = 1
)
SELECT
    n.form_id,
    n.source_id,
    n.device_id,
    n.stage,
    n.range_id,
    n.main_no,
    n.is_last,
    n.side,
    n.layer,
    n.layer_group,
    n.component,
    n.token,
    n.input_size,
    n.output_size,
    n.bias_count,
    n.weight_bits,
    n.split,
    n.kv_head_count,
    n.kernel_name_id,
    n.kernel_shape_id,
    n.rank_count,
    n.row_count,
    n.all_row_count,
    u.kernel_name_id IS NULL
    OR u.kernel_name_id = n.kernel_name_id AND u.kernel_shape_id IS NOT DISTINCT FROM n.kernel_shape_id AS is_usual
FROM named n
LEFT JOIN usual u
    ON u.form_id = n.form_id
    AND u.source_id = n.source_id
    AND u.device_id = n.device_id
    AND u.stage = n.stage
    AND u.layer_group IS NOT DISTINCT FROM n.layer_group
    AND u.component = n.component
    AND u.row_count = n.row_count
