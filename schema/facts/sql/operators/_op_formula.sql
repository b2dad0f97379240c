-- _op_formula: What a call of an operator must do for its inputs, by formulas. They are in Go (ingest/cost): what is selected here are the
--     calls that they are for.
-- grain: one operator with a formula and inputs
-- key: op_name_id, op_input_id
-- needs: _op_launch
-- columns:
--   op_name_id BIGINT: operator name
--   op_input_id BIGINT: inputs
--   formula VARCHAR: as in op_cost
--   flop_count BIGINT: as in op_cost
--   masked_flop_count BIGINT: as in op_cost
--   read_bytes BIGINT: as in op_cost
--   write_bytes BIGINT: as in op_cost
--   bytes_bound VARCHAR: as in op_cost
--   precision VARCHAR: precision of matrix products by the types of the inputs; NULL when they leave it open
--   unknown VARCHAR: as in op_cost

SELECT DISTINCT
    l.op_name_id,
    l.op_input_id,
    n.name,
    coalesce(i.shapes, '') AS shapes,
    coalesce(i.types, '') AS types,
    coalesce(i.strides, '') AS strides,
    coalesce(i.concrete, '') AS concrete
FROM _op_launch l
JOIN op_name n ON n.run_id = $run AND n.op_name_id = l.op_name_id
JOIN op_input i ON i.run_id = $run AND i.op_input_id = l.op_input_id
