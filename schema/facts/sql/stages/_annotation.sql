-- _annotation: What the names of ranges of serving engines say of a step: sequences and tokens of its prompts (context) and of its
--     generating requests.
-- grain: one range
-- key: range_id
-- needs: _engine_range
-- columns:
--   range_id BIGINT: the range
--   prompt_count BIGINT: sequences whose prompts are worked on
--   prompt_token_count BIGINT: their tokens in this step; NULL when not said, also where fewer than sequences are said
--   prompt_pair_count BIGINT: query-key pairs of their attention, summed over sequences; NULL when unknown
--   prompt_square_count BIGINT: squared token counts, summed; NULL when unknown
--   prompt_key_count BIGINT: context tokens, summed; NULL when unknown
--   decode_count BIGINT: generating sequences
--   decode_token_count BIGINT: their tokens in this step; NULL likewise
--   decode_key_count BIGINT: queries times keys of their attention, added up over sequences; NULL when not said
--   decode_context_count BIGINT: tokens in their contexts, added up; NULL when not said

-- Names: SGLang step[MODE bs=B toks=T c_sqsq=.. c_sqsk=.. c_sk=..], python/sglang/srt/model_executor/step_span_utils (build_step_span_name,
-- build_roofline_suffix); vLLM execute_I_context_B(sqTskKsqsqSsqskP)_generation_B(sq..), or (T) in place of the sums; TensorRT-LLM
-- [Executor] _forward_step I: B ctx reqs, T ctx tokens, G gen reqs. SGLang writes toks=0 where it does not know them. A name that was cut
-- off says nothing: its last number may have been longer.
WITH sglang AS (
    SELECT
        n.range_id,
        regexp_extract(n.name, '^step\[([A-Z_]+) bs=(\d+)', ['mode', 'bs']) AS s,
        n.name,
        try_cast(regexp_extract(n.name, ' toks=(\d+)', 1) AS BIGINT) AS toks
    FROM _engine_range n
    WHERE regexp_matches(n.name, '^step\[(EXTEND|DECODE|MIXED) bs=\d+( [^\]]*)?\]')
), vllm AS (
    SELECT
        n.range_id,
        regexp_extract(n.name, 'context_(\d+)\(([^)]*)\)_generation_(\d+)\(([^)]*)\)', ['c', 'cs', 'g', 'gs']) AS s
    FROM _engine_range n
    WHERE regexp_matches(n.name, '^execute_(\d+_)?context_\d+\([^)]*\)_generation_\d+\([^)]*\)')
), tensorrt AS (
    SELECT n.range_id, n.name
    FROM _engine_range n
    WHERE regexp_matches(n.name, '^\[Executor\] _forward_step( \d+)?: \d+ ctx reqs,')
), said AS (
    SELECT
        g.range_id,
        CASE g.s.mode
            WHEN 'DECODE' THEN '0'
            WHEN 'MIXED' THEN regexp_extract(g.name, ' c=(\d+)', 1)
            ELSE g.s.bs
        END AS c,
        CASE g.s.mode
            WHEN 'DECODE' THEN 0
            WHEN 'MIXED' THEN try_cast(regexp_extract(g.name, ' c_sq=(\d+)', 1) AS BIGINT)
            ELSE g.toks
        END AS ct,
        regexp_extract(g.name, ' c_sqsk=(\d+)', 1) AS cp,
        regexp_extract(g.name, ' c_sqsq=(\d+)', 1) AS cs,
        regexp_extract(g.name, ' c_sk=(\d+)', 1) AS ck,
        CASE g.s.mode
            WHEN 'EXTEND' THEN '0'
            WHEN 'MIXED' THEN regexp_extract(g.name, ' g=(\d+)', 1)
            ELSE g.s.bs
        END AS g,
        CASE g.s.mode
            WHEN 'EXTEND' THEN 0
            WHEN 'MIXED' THEN try_cast(regexp_extract(g.name, ' g_sq=(\d+)', 1) AS BIGINT)
            ELSE try_cast(g.s.bs AS BIGINT)
        END AS gt,
        regexp_extract(g.name, ' g_sqsk=(\d+)', 1) AS gk,
        regexp_extract(g.name, ' g_sk=(\d+)', 1) AS gc
    FROM sglang g
    UNION ALL
    SELECT
        v.range_id,
        v.s.c,
        try_cast(regexp_extract(v.s.cs, '^(?:sq)?(\d+)', 1) AS BIGINT),
        regexp_extract(v.s.cs, 'sqsk(\d+)$', 1),
        regexp_extract(v.s.cs, 'sqsq(\d+)', 1),
        regexp_extract(v.s.cs, '^sq\d+sk(\d+)', 1),
        v.s.g,
        try_cast(regexp_extract(v.s.gs, '^(?:sq)?(\d+)', 1) AS BIGINT),
        regexp_extract(v.s.gs, 'sqsk(\d+)$', 1),
        regexp_extract(v.s.gs, '^sq\d+sk(\d+)', 1)
    FROM vllm v
    UNION ALL
    SELECT
        t.range_id,
        regexp_extract(t.name, ': (\d+) ctx reqs', 1),
        CASE
            WHEN contains(t.name, ': 0 ctx reqs') THEN 0
            ELSE try_cast(regexp_extract(t.name, ' (\d+) ctx tokens', 1) AS BIGINT)
        END,
        '',
        '',
        '',
        regexp_extract(t.name, ' (\d+) gen reqs', 1),
        try_cast(regexp_extract(t.name, ' (\d+) gen reqs', 1) AS BIGINT),
        '',
        ''
    FROM tensorrt t
)
SELECT
    a.range_id,
    try_cast(a.c AS BIGINT) AS prompt_count,
    CASE WHEN a.ct >= try_cast(a.c AS BIGINT) AND (a.ct = 0) = (a.c = '0') THEN a.ct END AS prompt_token_count,
    try_cast(a.cp AS BIGINT) AS prompt_pair_count,
    try_cast(a.cs AS BIGINT) AS prompt_square_count,
    try_cast(a.ck AS BIGINT) AS prompt_key_count,
    try_cast(a.g AS BIGINT) AS decode_count,
    CASE WHEN a.gt >= try_cast(a.g AS BIGINT) AND (a.gt = 0) = (a.g = '0') THEN a.gt END AS decode_token_count,
    try_cast(a.gk AS BIGINT) AS decode_key_count,
    coalesce(
        try_cast(a.gc AS BIGINT),
        CASE WHEN a.gt = try_cast(a.g AS BIGINT) THEN try_cast(a.gk AS BIGINT) END
    ) AS decode_context_count
FROM said a
