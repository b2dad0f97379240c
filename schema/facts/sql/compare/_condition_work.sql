-- _condition_work: What a run's workload worked on: model, tokens, sequences, images, inputs; and by how many processes.
-- grain: one statement about an aspect of a run
-- key: aspect, priority
-- needs: nvtx_range|stream|workload_pass|model|capture_input
-- columns:
--   source_id INTEGER: the source that says it; NULL when it follows from several
--   priority INTEGER: of several statements about an aspect those of the lowest number hold
--   aspect VARCHAR: what it is about
--   value VARCHAR: what is said of it; NULL when nothing is
--   weight VARCHAR: decides, clouds or tells, as in run-conditions

-- Numbers are of measured passes: the one that all have, or those that they have and their mean. Passes of stages tell first, else the
-- facts of the workload. The model is chosen as by _model-id.
WITH number AS (
    SELECT
        0 AS priority,
        unnest(
            [
                {'aspect': 'prompt tokens', 'n': p.prompt_token_count},
                {'aspect': 'decoded tokens', 'n': p.decode_token_count},
                {'aspect': 'sequences', 'n': p.sequence_count}
            ],
            recursive := true
        )
    FROM stage_pass p
    WHERE p.run_id = $run AND p.is_counted AND NOT p.is_warmup
    UNION ALL
    SELECT
        1,
        unnest(
            [
                {'aspect': 'prompt tokens', 'n': w.prefill_count * w.batch_count},
                {'aspect': 'decoded tokens', 'n': w.decode_count * w.batch_count},
                {'aspect': 'sequences', 'n': w.batch_count},
                {'aspect': 'images', 'n': w.image_count},
                {'aspect': 'crops', 'n': w.crop_count}
            ],
            recursive := true
        )
    FROM workload_pass w
    WHERE w.run_id = $run AND NOT w.is_warmup
), told AS (
    SELECT
        n.priority,
        n.aspect,
        n.n,
        count(*) AS pass_count
    FROM number n
    WHERE n.n > 0
    GROUP BY n.priority, n.aspect, n.n
), model_of AS (
    SELECT
        m.source_id,
        coalesce(m.name, m.architecture, m.family) AS name,
        m.dtype,
        concat_ws(
            ', ',
            m.family,
            m.layer_count || ' layers',
            'hidden size ' || m.hidden_size,
            'vocabulary ' || m.vocab_size
        ) AS sizes
    FROM model m JOIN source s ON s.run_id = m.run_id AND s.source_id = m.source_id
    WHERE m.run_id = $run
    ORDER BY CASE WHEN s.kind = 'model' THEN 0 ELSE 1 END, CASE WHEN m.hidden_size IS NULL THEN 1 ELSE 0 END, m.model_id
    LIMIT 1
)
SELECT
    NULL AS source_id,
    t.priority,
    t.aspect,
    CASE
        WHEN count(*) = 1 THEN min(t.n)::VARCHAR
        WHEN count(*) <= 4 THEN string_agg(t.n::VARCHAR, ', ' ORDER BY t.n)
        ELSE min(t.n) || ' to ' || max(t.n)
    END
        || CASE
            WHEN count(*) > 1 THEN format('; mean {:.1f}', sum(t.n * t.pass_count) / sum(t.pass_count))
            ELSE ''
        END AS value,
    'decides' AS weight
FROM told t
GROUP BY t.priority, t.aspect
UNION ALL
SELECT
    m.source_id,
    0,
    unnest(
        [
            {'aspect': 'model', 'value': m.name, 'weight': 'decides'},
            {'aspect': 'model configuration', 'value': nullif(m.sizes, ''), 'weight': 'decides'},
            {'aspect': 'precision of the model', 'value': m.dtype, 'weight': 'decides'}
        ],
        recursive := true
    )
FROM model_of m
UNION ALL
SELECT
    i.source_id,
    0,
    'input ' || i.path,
    coalesce(left(i.sha256, 16), 'not readable'),
    'decides'
FROM capture_input i
WHERE i.run_id = $run
UNION ALL
SELECT
    NULL,
    x.priority,
    'processes',
    max(x.processes)::VARCHAR,
    'decides'
FROM (
    SELECT
        0 AS priority,
        count(DISTINCT (p.source_id, p.pid)) AS processes
    FROM stage_pass p
    WHERE p.run_id = $run AND p.is_counted
    GROUP BY p.repeat_id
    UNION ALL
    SELECT
        1,
        count(DISTINCT s.pid)
    FROM stream s
    WHERE s.run_id = $run
    GROUP BY s.source_id
) x
GROUP BY x.priority
