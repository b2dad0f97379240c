-- op_source: The sources of a run that hold operators, and which of them are counted. A run may hold the same operators several times, captured by different tools: no sum may hold them twice.
-- grain: one source
-- key: source_id
-- columns:
--   source_id INTEGER: the source
--   capture VARCHAR: torch (traces of the PyTorch profiler), nsys (NVTX ranges of emit_nvtx) or key_averages (PyTorch's table)
--   has_inputs BOOLEAN: whether inputs of operators were recorded; of key_averages, whether it has sums by shapes
--   is_counted BOOLEAN: whether it is of the capture that is counted unless another is asked for: torch before nsys before key_averages
--   is_summed BOOLEAN: whether sums by name hold it: of several tables of key_averages, which are of one program, the first alone
--   is_shape_summed BOOLEAN: whether sums by inputs hold it: of these tables the first that has shapes, if any

WITH t AS (
    SELECT o.source_id, s.kind AS capture, CASE s.kind WHEN 'torch' THEN 1 ELSE 2 END AS place, o.has_inputs
    FROM (SELECT p.source_id, count(p.op_input_id) > 0 AS has_inputs FROM op p WHERE p.run_id = $run GROUP BY p.source_id) o
    JOIN source s ON s.run_id = $run AND s.source_id = o.source_id AND s.kind IN ('torch', 'nsys')
    UNION ALL
    SELECT a.source_id, 'key_averages', 3, bool_or(a.shapes IS NOT NULL) FROM op_average a WHERE a.run_id = $run GROUP BY a.source_id
)
SELECT t.source_id, t.capture, t.has_inputs, t.place = (SELECT min(x.place) FROM t x) AS is_counted, -- no window: DuckDB 1.5.5 now and then fails in min() OVER () of a union (its issue 25713)
    t.place < 3 OR t.source_id = (SELECT min(x.source_id) FROM t x WHERE x.place = 3) AS is_summed,
    t.place < 3 OR t.source_id = (SELECT coalesce(min(x.source_id) FILTER (x.has_inputs), min(x.source_id)) FROM t x WHERE x.place = 3) AS is_shape_summed
FROM t
