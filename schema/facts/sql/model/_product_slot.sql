-- _product_slot: The matrix products that a layer of the default model makes, in order, in each form that a program may compute them in.
-- grain: one form and product of a layer, or of the head
-- key: form_id, layer, side, nth
-- needs: model_layer
-- columns:
--   model_id BIGINT: the model
--   form_id INTEGER: sum of 1: queries, keys and values as one product; 2: gate and up as one; 4: the router is a matrix kernel; 8: shared
--     experts before the others
--   layer INTEGER: layer, from 0; NULL for the head
--   layer_group VARCHAR: as in layer_cost
--   side VARCHAR: before or after the attention of the layer, or head
--   nth BIGINT: place among the products of that side, from 1
--   token VARCHAR: G for a product, X for experts, whose kernels are one place however many they are
--   component VARCHAR: component, as in layer_cost; several joined by +, and experts for all of theirs
--   input_size BIGINT: inputs of the matrix
--   output_size BIGINT: outputs of the matrix, of several components together
--   bias_count BIGINT: parameters beside the matrix
--   weight_bits DOUBLE: as in layer_cost
--   is_latent BOOLEAN: whether its rows are the tokens of the context, whose keys and values a latent gives
--   split VARCHAR: output or input: what ranks of tensor parallelism have a part of; NULL when not known
--   kv_head_count BIGINT: heads of keys and values, where it makes them; else NULL

-- A decoder of which anything else multiplies (recurrences, convolutions, an encoder, gates of attention, ...) has no rows.
WITH l AS (
    SELECT
        l.model_id,
        l.layer_id,
        l.layer_group,
        l.component,
        l.kind,
        l.scope,
        l.input_size,
        l.output_size,
        l.parameter_count,
        l.weight_bits,
        l.kv_head_count,
        max(CASE WHEN l.kind = 'attention' THEN l.layer_id END) OVER (PARTITION BY l.layer_group) AS attention_id,
        max(CASE WHEN l.kind = 'attention' THEN l.kv_head_count END) OVER (PARTITION BY l.layer_group) AS kv_heads
    FROM model_layer l JOIN model_size m ON m.run_id = $run AND m.model_id = l.model_id AND m.is_counted
    WHERE l.run_id = $run AND l.part IN ('decoder', 'encoder')
), c AS (
    SELECT
        l.model_id,
        l.layer_id,
        l.layer_group,
        l.component,
        l.input_size,
        l.output_size,
        l.weight_bits,
        l.kv_heads,
        l.scope = 'latent' AS is_latent,
        greatest(l.parameter_count - l.input_size * l.output_size, 0) AS bias_count,
        CASE
            WHEN l.scope = 'logit' THEN 'head'
            WHEN l.layer_id < l.attention_id THEN 'before'
            ELSE 'after'
        END AS side,
        starts_with(l.component, 'experts.') AS is_expert,
        starts_with(l.component, 'shared_expert') AS is_shared,
        CASE
            WHEN l.component IN ('q_proj', 'k_proj', 'v_proj') THEN 'q_proj+k_proj+v_proj'
            WHEN regexp_matches(l.component, '^(?:mlp|shared_experts?)\.(?:gate|up)_proj$')
                AND EXISTS (
                    SELECT 1
                    FROM l g
                    WHERE g.layer_group = l.layer_group
                        AND g.component = regexp_extract(l.component, '^[a-z_]+\.') || 'gate_proj'
                )
                THEN regexp_extract(l.component, '^[a-z_]+\.') || 'gate_proj+up_proj'
        END AS joined,
        CASE
            WHEN l.scope = 'logit'
                OR regexp_matches(l.component, '^(?:q_proj|k_proj|v_proj|qkv_proj|c_attn|query_key_value|Wqkv)$')
                OR regexp_matches(l.component, '^mlp\.(?:gate_proj|up_proj|gate_up_proj|c_fc|fc1|fc_in)$')
                THEN 'output'
            WHEN regexp_matches(l.component, '^(?:o_proj|out_proj|dense|c_proj|mlp\.(?:down_proj|c_proj|fc2|fc_out))$') THEN 'input'
        END AS split
    FROM l
    WHERE l.kind = 'linear'
), known AS (
    SELECT count(*) > 0 AS is_known
    FROM l
    HAVING bool_and(
            l.kind IN ('embedding', 'norm', 'parameter')
            OR l.kind = 'attention' AND l.component = 'attention'
            OR l.kind = 'linear'
                AND l.scope IN ('token', 'latent')
                AND l.attention_id IS NOT NULL
                AND regexp_matches(
                    l.component,
                    '^(?:q_proj|k_proj|v_proj|qkv_proj|c_attn|query_key_value|Wqkv|q_[ab]_proj|kv_a_proj_with_mqa|kv_b_proj.*|(?:mlp|experts|shared_experts?)\..*|router|o_proj|out_proj|dense|c_proj)$'
                )
            OR l.kind = 'linear' AND l.scope = 'logit' AND l.layer_group = 'head'
        )
        AND count(*) FILTER (l.kind = 'attention') = count(DISTINCT l.attention_id)
), form AS (
    SELECT f.form_id::INTEGER AS form_id
    FROM range(16) f(form_id)
    WHERE f.form_id & (
            SELECT
                CASE WHEN bool_or(c.component = 'q_proj') AND bool_or(c.component = 'k_proj') THEN 1 ELSE 0 END
                + CASE WHEN bool_or(contains(c.joined, 'gate')) THEN 2 ELSE 0 END
                + CASE WHEN bool_or(c.component = 'router') THEN 4 ELSE 0 END
                + CASE WHEN bool_or(c.is_shared) THEN 8 ELSE 0 END
            FROM c
        )
        = f.form_id
), layer AS (
    SELECT
        g.layer_group,
        unnest(range(split_part(g.span, '-', 1)::BIGINT, split_part('-' || g.span, '-', -1)::BIGINT + 1))::INTEGER AS layer
    FROM (
        SELECT DISTINCT
            c.layer_group,
            unnest(string_split(regexp_extract(c.layer_group, '^layers? ([0-9,-]+)$', 1), ',')) AS span
        FROM c
        WHERE c.side <> 'head'
    ) g
), slot AS (
    SELECT
        f.form_id,
        c.model_id,
        c.layer_group,
        c.side,
        CASE
            WHEN c.is_expert THEN 'experts'
            WHEN f.form_id & 1 > 0 AND starts_with(c.joined, 'q_') OR f.form_id & 2 > 0 AND contains(c.joined, 'gate') THEN c.joined
            ELSE c.component
        END AS component,
        CASE WHEN c.is_expert THEN 2 WHEN NOT c.is_shared THEN 0 WHEN f.form_id & 8 > 0 THEN 1 ELSE 3 END AS place,
        min(c.layer_id) AS layer_id,
        CASE WHEN bool_or(c.is_expert) THEN 'X' ELSE 'G' END AS token,
        min(c.input_size) AS input_size,
        sum(c.output_size)::BIGINT AS output_size,
        sum(c.bias_count)::BIGINT AS bias_count,
        max(c.weight_bits) AS weight_bits,
        bool_or(c.is_latent) AS is_latent,
        min(c.split) AS split,
        max(c.kv_heads) FILTER (c.side = 'before') AS kv_head_count
    FROM c CROSS JOIN form f
    WHERE (SELECT k.is_known FROM known k) AND (c.component <> 'router' OR f.form_id & 4 > 0)
    GROUP BY ALL
)
SELECT
    s.model_id,
    s.form_id,
    y.layer,
    s.layer_group,
    s.side,
    row_number() OVER (PARTITION BY s.form_id, y.layer, s.side ORDER BY s.place, s.layer_id) AS nth,
    s.token,
    s.component,
    s.input_size,
    s.output_size,
    s.bias_count,
    s.weight_bits,
    s.is_latent,
    s.split,
    s.kv_head_count
FROM slot s LEFT JOIN layer y ON y.layer_group = s.layer_group
