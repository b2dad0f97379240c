-- gemm_product: Kernels that multiply matrices, in measured passes, matched with the products of the default model's layers by order and
--     count, and by the kernels that other layers run in the same place.
-- grain: one product of a layer and kernel in a stage of a source, on one GPU; without a product one kernel, apart by the reason
-- key: source_id, device_id, stage, layer, component, kernel_name_id, kernel_shape_id, unknown
-- needs: kernel stage_pass model_layer
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   stage VARCHAR: stage of the passes
--   model_id BIGINT: the model
--   layer INTEGER: layer, from 0; NULL for the head, and without a product
--   layer_group VARCHAR: the layers that are equal to it, as in layer_cost; NULL without a product
--   component VARCHAR: component, as in layer_cost, several computed as one product joined by +; experts, attention scores or attention
--     values; NULL without a product
--   kernel_name_id BIGINT: name
--   kernel_shape_id BIGINT: launch shape
--   input_size BIGINT: inputs of the matrix, on one rank; NULL where its part is not known
--   output_size BIGINT: outputs of the matrix, on one rank; likewise
--   rank_count BIGINT: ranks that share the product; NULL when not known
--   row_count BIGINT: rows that the calls multiply, together; NULL when not known
--   all_row_count BIGINT: for the head, rows if it computes logits of all positions, not the last alone; else row_count
--   bias_count BIGINT: parameters beside the matrix; NULL without a product
--   weight_bits DOUBLE: bits a stored parameter takes where it is quantised; NULL: as the model's precision says
--   precision VARCHAR: number format in the kernel's name; NULL where it has none
--   call_count BIGINT: calls
--   kernel_ns BIGINT: their time
--   reduce_ns BIGINT: time of the kernels that add up the parts of split products behind them
--   matched_count BIGINT: calls that fit a product by order, count and kernel, though the stage as a whole may not
--   product_count BIGINT: calls that these are counted among: all but those of vision parts and one in front of the first layer, as of a
--     rotary table
--   unknown VARCHAR: why there are no figures: vision (work of the vision part), model (the decoder has parts that are not matched), tokens
--     (of the pass are not known), sequence (less than 95 % of the stage's products fit), ambiguous (they fit in several ways), outside
--     (fits no layer), unlike (another kernel than in other layers), routing (which experts work is not known), attention (products of
--     attention), latent (whether keys and values of earlier tokens are made anew), ranks (how ranks share it), order (which of the
--     products before attention is which), shapes (PyTorch recorded other sizes); NULL when known

WITH counted AS (
    SELECT
        c.source_id,
        c.stage,
        sum(c.call_count) AS call_count,
        count(*) AS pass_count
    FROM (
        SELECT
            c.source_id,
            c.stage,
            c.device_id,
            c.range_id,
            count(*) AS call_count
        FROM _product_call c
        WHERE NOT c.is_vision
        GROUP BY c.source_id, c.stage, c.device_id, c.range_id
    ) c
    GROUP BY c.source_id, c.stage
), fitted AS (
    SELECT
        a.form_id,
        a.source_id,
        a.stage,
        a.device_id,
        a.range_id,
        count(*) FILTER (a.is_usual) AS matched_count,
        bool_or(a.is_last) AS has_last
    FROM _product_place a
    GROUP BY a.form_id, a.source_id, a.stage, a.device_id, a.range_id
), extra AS ( -- one product in front of the first layer, as of a rotary table, does not count
    SELECT
        f.form_id,
        f.source_id,
        f.stage,
        count(*) FILTER (f.extra_count = 1) AS extra_count
    FROM _product_form f
    GROUP BY f.form_id, f.source_id, f.stage
), scored AS ( -- the ends of the passes must fit too: products that all moved by one place fit everywhere else
    SELECT
        f.form_id,
        f.source_id,
        f.stage,
        sum(f.matched_count) >= 0.95 * (any_value(c.call_count) - any_value(e.extra_count))
        AND count(*) FILTER (f.has_last) >= 0.95 * any_value(c.pass_count) AS fits,
        sum(f.matched_count) AS matched_count
    FROM fitted f
    JOIN counted c ON c.source_id = f.source_id AND c.stage = f.stage
    JOIN extra e ON e.form_id = f.form_id AND e.source_id = f.source_id AND e.stage = f.stage
    GROUP BY f.form_id, f.source_id, f.stage
), chosen AS (
    SELECT
        s.source_id,
        s.stage,
        arg_max(s.form_id, (s.matched_count, -s.form_id)) AS form_id,
        count(*) FILTER (s.fits) AS fit_count
    FROM scored s
    GROUP BY s.source_id, s.stage
), known AS (
    SELECT
        (SELECT count(*) FROM _product_slot) > 0
        AND (
            SELECT NOT z.is_unknown
            FROM model_size z
            WHERE z.run_id = $run AND z.is_counted
        ) AS is_known,
        (
            SELECT count(*)
            FROM kernel_class c
            WHERE c.run_id = $run AND starts_with(c.family, 'triton fused')
        )
            > 0 AS is_compiled
), placed AS (
    SELECT
        c.source_id,
        c.device_id,
        c.stage,
        c.is_vision,
        c.kernel_name_id,
        c.kernel_shape_id,
        c.op_input_id,
        q.basis IS NOT NULL AS has_tokens,
        f.fit_count,
        a.side,
        a.layer,
        a.layer_group,
        a.component,
        a.token,
        a.input_size,
        a.output_size,
        a.bias_count,
        a.weight_bits,
        a.split,
        a.kv_head_count,
        a.rank_count,
        a.row_count,
        a.all_row_count,
        coalesce(a.is_usual, false) AS is_matched,
        NOT c.is_vision AND NOT coalesce(a.form_id IS NULL AND e.extra_count = 1, false) AS is_counted,
        count(*) AS call_count,
        count(*) FILTER (c.has_collective) AS collective_count,
        sum(c.kernel_ns) AS kernel_ns,
        sum(c.reduce_ns) AS reduce_ns
    FROM _product_call c
    JOIN stage_pass q ON q.run_id = $run AND q.range_id = c.range_id
    LEFT JOIN chosen f ON f.source_id = c.source_id AND f.stage = c.stage AND NOT c.is_vision
    LEFT JOIN _product_place a
        ON a.form_id = f.form_id
        AND a.source_id = c.source_id
        AND a.device_id = c.device_id
        AND a.range_id = c.range_id
        AND a.main_no = c.main_no
    LEFT JOIN _product_form e
        ON e.form_id = f.form_id
        AND e.source_id = c.source_id
        AND e.device_id = c.device_id
        AND e.range_id = c.range_id
        AND e.segment = c.segment
    GROUP BY ALL
), ordered AS ( -- of queries, keys and values those of one size must run one kernel, and others another; compilers may change the order
    SELECT
        p.source_id,
        p.device_id,
        p.stage,
        p.layer_group,
        p.row_count,
        CASE
            WHEN count(DISTINCT p.component) = 1 THEN true
            WHEN count(*) FILTER (p.component = 'k_proj') = 0 THEN NOT any_value(k.is_compiled)
            ELSE count(DISTINCT p.output_size) = 1
                OR count(DISTINCT (p.output_size, p.kernel_name_id, p.kernel_shape_id)) = count(DISTINCT p.output_size)
                    AND count(DISTINCT (p.kernel_name_id, p.kernel_shape_id)) = count(DISTINCT p.output_size)
        END AS is_ordered
    FROM placed p CROSS JOIN known k
    WHERE p.side = 'before' AND p.is_matched AND p.row_count IS NOT NULL
    GROUP BY p.source_id, p.device_id, p.stage, p.layer_group, p.row_count
), reduced AS ( -- ranks add up what they have parts of the inputs of, and gather the head's outputs
    SELECT
        p.source_id,
        p.stage,
        p.side = 'head' AS is_head,
        sum(p.collective_count) >= 0.95 * sum(p.call_count) AS is_reduced
    FROM placed p
    WHERE p.split = 'input' OR p.side = 'head'
    GROUP BY ALL
), part AS (
    SELECT
        p.*,
        k.is_known,
        p.side = 'before' AND NOT coalesce(o.is_ordered, false) AS is_mixed,
        CASE
            WHEN p.rank_count = 1 THEN 1
            WHEN p.split = 'input' AND r.is_reduced AND p.input_size % p.rank_count = 0 THEN p.rank_count
            WHEN p.split = 'output'
                AND r.is_reduced
                AND p.output_size % p.rank_count = 0
                AND coalesce(p.kv_head_count % p.rank_count = 0, true)
                THEN p.rank_count
        END AS parts,
        p.input_size // CASE p.split WHEN 'input' THEN parts ELSE 1 END AS own_input_size,
        p.output_size // CASE p.split WHEN 'output' THEN parts ELSE 1 END AS own_output_size,
        coalesce( -- PyTorch's own sizes, where it recorded them, are right
            NOT list_has_all(
                regexp_extract_all(i.shapes, '[0-9]+')::BIGINT[],
                [
                    own_output_size,
                    own_input_size,
                    CASE WHEN p.row_count > 1 THEN p.row_count ELSE own_input_size END
                ]
            ),
            false
        ) AS is_refuted
    FROM placed p
    CROSS JOIN known k
    LEFT JOIN op_input i ON i.run_id = $run AND i.op_input_id = p.op_input_id
    LEFT JOIN ordered o
        ON o.source_id = p.source_id
        AND o.device_id = p.device_id
        AND o.stage = p.stage
        AND o.layer_group = p.layer_group
        AND o.row_count = p.row_count
    LEFT JOIN reduced r ON r.source_id = p.source_id AND r.stage = p.stage AND r.is_head = (p.side = 'head')
), told AS (
    SELECT
        p.*,
        CASE
            WHEN p.is_vision THEN 'vision'
            WHEN NOT p.is_known THEN 'model'
            WHEN NOT p.has_tokens THEN 'tokens'
            WHEN coalesce(p.fit_count, 0) = 0 THEN 'sequence'
            WHEN p.fit_count > 1 THEN 'ambiguous'
            WHEN p.component IS NULL THEN 'outside'
            WHEN NOT p.is_matched THEN 'unlike'
        END AS unmatched,
        CASE
            WHEN p.token = 'X' THEN 'routing'
            WHEN starts_with(p.component, 'attention ') THEN 'attention'
            WHEN p.all_row_count IS NULL THEN 'tokens'
            WHEN p.row_count IS NULL THEN 'latent'
            WHEN p.parts IS NULL THEN 'ranks'
            WHEN p.is_mixed THEN 'order'
            WHEN p.is_refuted THEN 'shapes'
        END AS unsized
    FROM part p
), masked AS (
    SELECT
        t.source_id,
        t.device_id,
        t.stage,
        t.kernel_name_id,
        t.kernel_shape_id,
        t.call_count,
        t.kernel_ns,
        t.reduce_ns,
        CASE WHEN t.is_matched THEN t.call_count ELSE 0 END AS matched_count,
        CASE WHEN t.is_counted THEN t.call_count ELSE 0 END AS product_count,
        coalesce(t.unmatched, t.unsized) AS unknown,
        CASE
            WHEN t.unmatched IS NULL
                THEN {
                    'layer': t.layer,
                    'layer_group': t.layer_group,
                    'component': t.component,
                    'input_size': t.own_input_size,
                    'output_size': t.own_output_size,
                    'rank_count': t.parts,
                    'bias_count': t.bias_count,
                    'weight_bits': t.weight_bits
                }
        END AS product,
        CASE WHEN t.unmatched IS NULL THEN t.row_count * t.call_count END AS row_count,
        CASE
            WHEN t.unmatched IS NULL THEN CASE t.side WHEN 'head' THEN t.all_row_count ELSE t.row_count END * t.call_count
        END AS all_row_count
    FROM told t
)
SELECT
    t.source_id,
    t.device_id,
    t.stage,
    m.model_id,
    t.product.layer AS layer,
    t.product.layer_group AS layer_group,
    t.product.component AS component,
    t.kernel_name_id,
    t.kernel_shape_id,
    t.product.input_size AS input_size,
    t.product.output_size AS output_size,
    t.product.rank_count AS rank_count,
    sum(t.row_count)::BIGINT AS row_count,
    sum(t.all_row_count)::BIGINT AS all_row_count,
    t.product.bias_count AS bias_count,
    t.product.weight_bits AS weight_bits,
    n.precision,
    sum(t.call_count)::BIGINT AS call_count,
    sum(t.kernel_ns)::BIGINT AS kernel_ns,
    sum(t.reduce_ns)::BIGINT AS reduce_ns,
    sum(t.matched_count)::BIGINT AS matched_count,
    sum(t.product_count)::BIGINT AS product_count,
    t.unknown
FROM masked t
JOIN _name_precision n ON n.kernel_name_id = t.kernel_name_id
JOIN model_size m ON m.run_id = $run AND m.is_counted
GROUP BY ALL
