-- _layer-cost: What each component of a model's layers costs, for one token, one query and key, one picture: FLOPs of any pass are sums of these.
-- grain: one row of model_layer
-- key: layer_id
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: model_id; by default as in _model-id
-- columns:
--   model_id: the model
--   max_context_count: positions the model was made for
--   layer_id: the row
--   part: decoder, or a part of the vision tower
--   view: picture that a vision part sees
--   layer_group: which layers
--   layer_count: how many
--   component: name within the layer
--   operator: what it is for: projection, attention, mlp, experts, shared experts, router, head, convolution, relative_position
--   window_size: attention: tokens that a token sees; NULL for all
--   token_flop: operations for each token
--   logit_flop: operations for each token whose logits are computed
--   latent_flop: operations for each token whose keys and values are expanded from the latent
--   pair_flop: attention: operations for each query and key
--   absorbed_pair_flop: the same when queries meet the latents themselves (MLA)
--   picture_flop: operations for each picture of the view

-- A matrix of m x n costs 2 m n for each row multiplied: m n multiply-adds, as torch.utils.flop_counter counts mm, addmm, bmm and
-- convolution. Attention costs 2 (key_size + value_size) for each head, query and key: scores and weighted values (sdpa_flop). With
-- absorbed matrices the key is the latent and the rotary key, the value the latent: arXiv 2405.04434, section 2.1.2. Biases, norms,
-- softmax, activations and lookups count nothing.
WITH l AS (
    SELECT l.model_id, m.max_context_count, l.layer_id, l.part, l.view, l.layer_group, l.layer_count, l.component, l.kind, l.scope, l.window_size,
        CASE WHEN l.kind IN ('linear', 'convolution', 'relative_position') THEN 2::HUGEINT * l.layer_count * l.input_size * l.output_size * l.active_count END AS row_flop,
        CASE WHEN l.kind = 'attention' THEN 2::HUGEINT * l.layer_count * l.head_count * (l.key_size + l.value_size) END AS pair_flop,
        CASE WHEN l.kind = 'attention' THEN 2::HUGEINT * l.layer_count * l.head_count
            * CASE WHEN l.latent_size IS NULL THEN l.key_size + l.value_size ELSE 2 * l.latent_size + coalesce(l.rope_size, 0) END END AS absorbed_pair_flop,
        l.position_count, l.key_count
    FROM model m JOIN model_layer l ON l.run_id = m.run_id AND l.model_id = m.model_id
    WHERE m.run_id = run AND m.model_id = _model_id(run, model) AND l.kind IN ('linear', 'convolution', 'relative_position', 'attention')
)
SELECT l.model_id, l.max_context_count, l.layer_id, l.part, l.view, l.layer_group, l.layer_count, l.component,
    CASE WHEN l.kind <> 'linear' THEN l.kind WHEN l.scope = 'logit' THEN 'head' WHEN l.component = 'router' THEN 'router'
        WHEN starts_with(l.component, 'experts.') THEN 'experts' WHEN starts_with(l.component, 'shared_expert') THEN 'shared experts'
        WHEN starts_with(l.component, 'mlp.') THEN 'mlp' ELSE 'projection' END AS operator,
    l.window_size,
    CASE WHEN l.scope = 'token' THEN l.row_flop END::BIGINT AS token_flop,
    CASE WHEN l.scope = 'logit' THEN l.row_flop END::BIGINT AS logit_flop,
    CASE WHEN l.scope = 'latent' THEN l.row_flop END::BIGINT AS latent_flop,
    CASE WHEN l.scope = 'token' THEN l.pair_flop END::BIGINT AS pair_flop,
    CASE WHEN l.scope = 'token' THEN l.absorbed_pair_flop END::BIGINT AS absorbed_pair_flop,
    CASE WHEN l.scope = 'position' THEN coalesce(l.row_flop, l.pair_flop * l.key_count) * l.position_count END::BIGINT AS picture_flop
FROM l
