-- _product_call: Kernels that multiply matrices, in measured passes, by their place between the attentions of the pass.
-- grain: one kernel of a pass on a GPU
-- key: source_id, device_id, range_id, is_vision, main_no
-- needs: kernel stage_pass model_layer
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   stage VARCHAR: stage of the pass
--   range_id BIGINT: the pass
--   main_no BIGINT: place in the order of the pass
--   is_vision BOOLEAN: whether it was launched in a range of the vision part: it has no segment
--   is_eager BOOLEAN: whether attention is two products around a softmax, since the stage has no kernels of attention
--   segment_count BIGINT: attentions of the pass
--   segment BIGINT: attentions before it
--   nth BIGINT: place in its segment, from 1; kernels of experts that follow each other have one place
--   nth_back BIGINT: place from its end, from 1
--   token VARCHAR: G for a product, X for one of experts
--   kernel_name_id BIGINT: name
--   kernel_shape_id BIGINT: launch shape
--   op_input_id BIGINT: inputs of the operator that launched it; NULL when not recorded
--   kernel_ns BIGINT: its time
--   reduce_ns BIGINT: time of the kernels behind it that add up the parts of a split product; 0 without one
--   has_collective BOOLEAN: whether a collective comes before the next product or attention

WITH named AS (
    SELECT
        c.kernel_name_id,
        CASE
            WHEN c.role = 'gemm' THEN CASE WHEN regexp_matches(c.family, 'moe|grouped') THEN 'X' ELSE 'G' END
            WHEN c.role = 'attention' AND NOT contains(c.family, 'metadata') THEN 'A'
            WHEN c.role = 'softmax' THEN 'S'
            WHEN c.role = 'collective' THEN 'C'
            WHEN c.role = 'reduction' AND regexp_matches(c.family, '(?i)split-?k reduce|gemm reduce') THEN 'R'
        END AS token
    FROM kernel_class c
    WHERE c.run_id = $run
), w AS (
    SELECT
        k.source_id,
        k.device_id,
        x.stage,
        x.range_id,
        k.start_ns,
        coalesce(v.note IN ('vision', 'sam', 'clip', 'siglip', 'vit', 'projector'), false) AS is_vision,
        n.token,
        k.kernel_name_id,
        k.kernel_shape_id,
        o.op_input_id,
        k.duration_ns
    FROM kernel k
    JOIN named n ON n.kernel_name_id = k.kernel_name_id AND n.token IS NOT NULL
    JOIN pass_context x ON x.run_id = $run AND x.range_context_id = k.range_context_id AND NOT x.is_warmup
    JOIN stage_pass p ON p.run_id = $run AND p.range_id = x.range_id AND p.lost_count = 0
    LEFT JOIN op o ON o.run_id = $run AND o.op_id = k.op_id
    LEFT JOIN path_stage v ON v.run_id = $run AND v.path_id = k.path_id
    WHERE k.run_id = $run
), s AS (
    SELECT
        w.source_id,
        w.device_id,
        w.stage,
        w.range_id,
        w.start_ns,
        w.is_vision,
        w.token,
        w.kernel_name_id,
        w.kernel_shape_id,
        w.op_input_id,
        w.duration_ns,
        NOT bool_or(w.token = 'A') OVER (PARTITION BY w.source_id, w.device_id, w.stage, w.is_vision) AS is_eager
    FROM w
), numbered AS (
    SELECT
        s.source_id,
        s.device_id,
        s.stage,
        s.range_id,
        s.is_vision,
        s.is_eager,
        s.token,
        s.kernel_name_id,
        s.kernel_shape_id,
        s.op_input_id,
        s.duration_ns,
        s.token NOT IN ('C', 'R') AS is_main,
        sum(CASE WHEN s.token IN ('C', 'R') THEN 0 ELSE 1 END) OVER (
            PARTITION BY s.source_id, s.device_id, s.range_id, s.is_vision
            ORDER BY s.start_ns, s.kernel_name_id, s.kernel_shape_id
            ROWS UNBOUNDED PRECEDING
        ) AS main_no
    FROM s
    WHERE s.token <> 'S' OR s.is_eager
), main AS (
    SELECT
        n.source_id,
        n.device_id,
        n.stage,
        n.range_id,
        n.is_vision,
        n.is_eager,
        n.main_no,
        max(n.token) FILTER (n.is_main) AS token,
        max(n.kernel_name_id) FILTER (n.is_main) AS kernel_name_id,
        max(n.kernel_shape_id) FILTER (n.is_main) AS kernel_shape_id,
        max(n.op_input_id) FILTER (n.is_main) AS op_input_id,
        max(n.duration_ns) FILTER (n.is_main) AS kernel_ns,
        coalesce(sum(n.duration_ns) FILTER (n.token = 'R'), 0)::BIGINT AS reduce_ns,
        bool_or(n.token = 'C') AS has_collective
    FROM numbered n
    WHERE n.main_no > 0
    GROUP BY n.source_id, n.device_id, n.stage, n.range_id, n.is_vision, n.is_eager, n.main_no
), around AS (
    SELECT
        m.*,
        lag(m.token) OVER o AS token_before,
        CASE
            WHEN m.token = 'A' THEN coalesce(token_before <> 'A', true)
            ELSE m.token = 'S' AND token_before = 'G' AND lead(m.token) OVER o = 'G'
        END AS is_attention
    FROM main m
    WINDOW o AS (PARTITION BY m.source_id, m.device_id, m.range_id, m.is_vision ORDER BY m.main_no)
), placed AS (
    SELECT
        a.*,
        sum(a.is_attention::INTEGER) OVER (
            PARTITION BY a.source_id, a.device_id, a.range_id, a.is_vision
            ORDER BY a.main_no
            ROWS UNBOUNDED PRECEDING
        ) AS segment,
        sum(a.is_attention::INTEGER) OVER (PARTITION BY a.source_id, a.device_id, a.range_id, a.is_vision) AS segment_count
    FROM around a
), counted AS (
    SELECT
        p.*,
        sum(CASE WHEN p.token = 'G' OR p.token_before IS DISTINCT FROM 'X' THEN 1 ELSE 0 END) OVER (
            PARTITION BY p.source_id, p.device_id, p.range_id, p.is_vision, p.segment
            ORDER BY p.main_no
            ROWS UNBOUNDED PRECEDING
        ) AS nth
    FROM placed p
    WHERE p.token IN ('G', 'X')
)
SELECT
    c.source_id,
    c.device_id,
    c.stage,
    c.range_id,
    c.main_no::BIGINT AS main_no,
    c.is_vision,
    c.is_eager,
    c.segment_count::BIGINT AS segment_count,
    c.segment::BIGINT AS segment,
    c.nth::BIGINT AS nth,
    (max(c.nth) OVER (PARTITION BY c.source_id, c.device_id, c.range_id, c.is_vision, c.segment) - c.nth + 1)::BIGINT AS nth_back,
    c.token,
    c.kernel_name_id,
    c.kernel_shape_id,
    c.op_input_id,
    c.kernel_ns,
    c.reduce_ns,
    c.has_collective
FROM counted c
