-- op_source: The operator sources of a run, and which are counted. A run may have the same operators from several tools: a sum must use one
--     of them.
-- grain: one source
-- key: source_id
-- needs: op|op_average
-- columns:
--   source_id INTEGER: the source
--   capture VARCHAR: {operators}: traces of the PyTorch profiler, NVTX ranges of emit_nvtx, or PyTorch's table
--   has_inputs BOOLEAN: whether inputs of operators were recorded; for key_averages, whether it is grouped by shapes
--   is_counted BOOLEAN: whether its capture is the default: the first of {operators} that the run has, but of ranges one that has the
--     making of CUDA graphs before one that has not: only there are operators of replays known
--   is_summed BOOLEAN: whether sums by name use it: of several key_averages tables of one program, only the first
--   is_shape_summed BOOLEAN: whether sums by inputs use it: of these tables, the first with shapes, if any

WITH t AS (
    SELECT
        o.source_id,
        s.kind AS capture,
        o.has_inputs
    FROM (
        SELECT
            p.source_id,
            count(p.op_input_id) > 0 AS has_inputs
        FROM op p
        WHERE p.run_id = $run
        GROUP BY p.source_id
    ) o
    JOIN source s ON s.run_id = $run AND s.source_id = o.source_id AND s.kind IN ({'operators'})
    UNION ALL
    SELECT
        a.source_id,
        'key_averages',
        bool_or(a.shapes IS NOT NULL)
    FROM op_average a
    WHERE a.run_id = $run
    GROUP BY a.source_id
), made AS ( -- kinds of ranges that tell of which operators replays are
    SELECT DISTINCT x.capture
    FROM t x
    WHERE x.capture IN ({'rangers'})
        AND x.source_id IN (SELECT g.source_id FROM graph_node g WHERE g.run_id = $run)
), sums AS (
    SELECT
        min(x.source_id) AS source_id,
        coalesce(min(x.source_id) FILTER (x.has_inputs), min(x.source_id)) AS shaped_id
    FROM t x
    WHERE x.capture = 'key_averages'
)
SELECT
    t.source_id,
    t.capture,
    t.has_inputs,
    -- no window: DuckDB 1.5.5 now and then fails in min() OVER () of a union (its issue 25713)
    t.capture = (
        SELECT arg_min(x.capture, array_position([{'operators'}], x.capture))
        FROM t x
        WHERE x.capture NOT IN ({'rangers'})
            OR x.capture IN (SELECT m.capture FROM made m)
            OR NOT EXISTS (SELECT 1 FROM made)
    ) AS is_counted,
    t.capture <> 'key_averages' OR t.source_id = (SELECT s.source_id FROM sums s) AS is_summed,
    t.capture <> 'key_averages' OR t.source_id = (SELECT s.shaped_id FROM sums s) AS is_shape_summed
FROM t
