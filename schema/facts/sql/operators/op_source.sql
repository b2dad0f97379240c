-- op_source: The operator sources of a run, and which are counted. A run may have the same operators from several tools: a sum must use one of them.
-- grain: one source
-- key: source_id
-- needs: op|op_average
-- columns:
--   source_id INTEGER: the source
--   capture VARCHAR: torch (traces of the PyTorch profiler), nsys or prof (NVTX ranges of emit_nvtx) or key_averages (PyTorch's table)
--   has_inputs BOOLEAN: whether inputs of operators were recorded; for key_averages, whether it is grouped by shapes
--   is_counted BOOLEAN: whether its capture is the default: torch before nsys before prof before key_averages
--   is_summed BOOLEAN: whether sums by name use it: of several key_averages tables of one program, only the first
--   is_shape_summed BOOLEAN: whether sums by inputs use it: of these tables, the first with shapes, if any

WITH t AS (
    SELECT o.source_id, s.kind AS capture, CASE s.kind WHEN 'torch' THEN 1 WHEN 'nsys' THEN 2 ELSE 3 END AS place, o.has_inputs
    FROM (SELECT p.source_id, count(p.op_input_id) > 0 AS has_inputs FROM op p WHERE p.run_id = $run GROUP BY p.source_id) o
    JOIN source s ON s.run_id = $run AND s.source_id = o.source_id AND s.kind IN ('torch', 'nsys', 'prof')
    UNION ALL
    SELECT a.source_id, 'key_averages', 4, bool_or(a.shapes IS NOT NULL) FROM op_average a WHERE a.run_id = $run GROUP BY a.source_id
)
SELECT t.source_id, t.capture, t.has_inputs, t.place = (SELECT min(x.place) FROM t x) AS is_counted, -- no window: DuckDB 1.5.5 now and then fails in min() OVER () of a union (its issue 25713)
    t.place < 4 OR t.source_id = (SELECT min(x.source_id) FROM t x WHERE x.place = 4) AS is_summed,
    t.place < 4 OR t.source_id = (SELECT coalesce(min(x.source_id) FILTER (x.has_inputs), min(x.source_id)) FROM t x WHERE x.place = 4) AS is_shape_summed
FROM t
