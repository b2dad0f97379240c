-- op_cost: Calls of operators that launched device work themselves, and executions of captured calls by graph replays, their device time,
--     and what each must compute and move, by formulas over its inputs.
-- grain: one operator and inputs in a source and stage, with or without copies to or from the host or another GPU
-- key: source_id, op_name_id, op_input_id, stage, leaves_device, unknown
-- needs: _op_launch
-- columns:
--   source_id INTEGER: the source
--   op_name_id BIGINT: operator name
--   op_input_id BIGINT: inputs; NULL when not recorded, and where several captures fit a replay
--   stage VARCHAR: stage of the calls, or of the launches of replays; (none) outside every stage
--   leaves_device BOOLEAN: whether some of the work is a copy to or from the host or another GPU
--   call_count BIGINT: calls that launched device work
--   replay_count BIGINT: executions of captured calls by graph replays
--   self_device_ns BIGINT: device time of the work that the calls launched themselves, and of these executions
--   replay_ns BIGINT: part of it from replays
--   formula VARCHAR: group of the formula: matmul, convolution, attention, moe, elementwise, reduction, normalisation, softmax, indexing,
--     sort, copy, fill, cat or cache; NULL without one
--   flop_count BIGINT: FLOP of one call as torch.utils.flop_counter counts, which knows no masks, and of sums and products of elements as
--     PyTorch's profiler counts; a multiply-add counts 2; NULL when unknown, and for operators without products
--   masked_flop_count BIGINT: part of flop_count that a causal mask or a window leaves
--   read_bytes BIGINT: bytes that one call must read: each distinct element of an input once; NULL when unknown
--   write_bytes BIGINT: bytes that one call must write: each element of an output once; NULL when unknown
--   bytes_bound VARCHAR: exact; upper or lower where the bytes depend on values that are not recorded: upper and lower bounds
--   precision VARCHAR: precision of its matrix products: fp64, fp32, tf32, bf16, fp16, fp8, int8 or fp4, by the types of the inputs, and of
--     single precision by kernel names; NULL when unknown, or without them
--   unknown VARCHAR: why a figure is unknown: no-inputs (not recorded), several-inputs (of captures that fit a replay), no-formula,
--     no-types (of the inputs), no-values (of inputs that are no tensors), list-types (of tensors in lists), scalar-type (a number or a
--     tensor), lengths (of sequences, on the GPU), routing (which experts work, on the GPU), other-inputs (than the formula knows),
--     host-copy (leaves the GPU), precision (fp32 or tf32); NULL when nothing is

WITH named AS ( -- for single precision kernel names say whether the tensor cores multiplied
    SELECT
        k.source_id,
        w.op_name_id,
        w.op_input_id,
        CASE WHEN min(p.precision) = max(p.precision) THEN min(p.precision) END AS precision
    FROM (
        SELECT k.source_id, k.op_id, k.kernel_name_id
        FROM kernel k
        WHERE k.run_id = $run AND k.op_id > 0
        UNION ALL
        SELECT r.source_id, r.op_id, r.kernel_name_id
        FROM _replayed r
        WHERE r.has_inputs
    ) k
    JOIN (
        SELECT o.op_id, o.op_name_id, o.op_input_id
        FROM op o
        JOIN _op_formula f
            ON f.op_name_id = o.op_name_id
            AND f.op_input_id = o.op_input_id
            AND f.formula IN ('matmul', 'convolution', 'attention', 'moe')
            AND f.precision IS NULL
        WHERE o.run_id = $run
    ) w ON w.op_id = k.op_id
    JOIN _name_precision p ON p.kernel_name_id = k.kernel_name_id AND p.precision IN ('fp32', 'tf32')
    GROUP BY k.source_id, w.op_name_id, w.op_input_id
)
SELECT
    l.source_id,
    l.op_name_id,
    l.op_input_id,
    l.stage,
    l.leaves_device,
    l.call_count,
    l.replay_count,
    l.self_device_ns,
    l.replay_ns,
    f.formula,
    f.flop_count,
    f.masked_flop_count,
    CASE WHEN NOT l.leaves_device THEN f.read_bytes END AS read_bytes,
    CASE WHEN NOT l.leaves_device THEN f.write_bytes END AS write_bytes,
    f.bytes_bound,
    coalesce(f.precision, t.precision) AS precision,
    CASE
        WHEN l.leaves_device THEN 'host-copy'
        WHEN NOT l.has_inputs THEN 'several-inputs'
        WHEN l.op_input_id IS NULL THEN 'no-inputs'
        WHEN f.formula IS NULL THEN 'no-formula'
        WHEN f.unknown IS NOT NULL THEN f.unknown
        WHEN f.formula IN ('matmul', 'convolution', 'attention', 'moe') AND f.precision IS NULL AND t.precision IS NULL
            THEN 'precision'
    END AS unknown
FROM _op_launch l
LEFT JOIN _op_formula f ON f.op_name_id = l.op_name_id AND f.op_input_id = l.op_input_id
LEFT JOIN named t ON t.source_id = l.source_id AND t.op_name_id = l.op_name_id AND t.op_input_id = l.op_input_id
