-- _operator-roof: Device time of the calls of operators that launched work and of graph replays of captured ones, against the least time
--     that the peaks allow.
-- grain: one operator and inputs, or by name one operator, apart by why a figure is unknown
-- key: operator, shapes, types, unknown
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: as in operator-roofline
--   by VARCHAR = 'name+shape': as in operator-roofline
--   stage VARCHAR = NULL: as in operator-roofline
--   {operator source}
-- columns:
--   operator: operator name
--   shapes: sizes of each input tensor, as JSON; NULL by name or when not recorded
--   types: type of each input, as JSON; NULL by name or when not recorded
--   calls: calls that launched device work themselves
--   replays: executions of captured calls in graph replays
--   self_device_ns: device time of the work that these calls launched themselves, and of the replays
--   replay_ns: part of it from graph replays
--   roof_ns: least time that the peaks allow, execution by execution the longer of bytes / roof_bytes_per_s and FLOP / roof_flop_per_s;
--     NULL when a figure is unknown
--   side: memory or compute: the peak that bounds it; NULL when unknown
--   flop: FLOP of matrix products, convolutions and attention, without what a mask leaves out, and of sums and products of elements; NULL
--     when unknown, and for operators without them
--   full_flop: FLOP as torch.utils.flop_counter counts: attention as if there were no mask
--   read_bytes: bytes that calls and replays must read: each distinct element of an input once
--   write_bytes: bytes that they must write: each element of an output once
--   achieved_bytes_per_s: (read_bytes + write_bytes) / self_device_ns
--   dram_ratio: achieved_bytes_per_s / roof_bytes_per_s. Over 1 where data came out of the L2 cache
--   roof_flop_per_s: dense peak of the device in this precision; NULL when unknown, and for operators without matrix products
--   roof_bytes_per_s: DRAM bandwidth of the device; NULL when unknown
--   precision: precision of matrix products; NULL when unknown, or without them
--   bytes_bound: exact; upper or lower where the bytes depend on values that are not recorded
--   formula: group of the formula, as in op_cost
--   unknown: why a figure is unknown, as in op_cost, or no-peak; NULL when nothing is
--   device: device name; NULL when unknown, or when GPUs of the source differ

WITH gpu AS (
    SELECT
        d.source_id,
        CASE WHEN count(*) = count(d.name) AND min(d.name) = max(d.name) THEN min(d.name) END AS device
    FROM device d
    WHERE d.run_id = run
    GROUP BY d.source_id
), part AS (
    SELECT
        n.name AS operator,
        CASE "by"
            WHEN 'name+shape' THEN i.shapes
            WHEN 'name' THEN NULL
            ELSE error('ARGUMENT: --by is name+shape or name')
        END AS shapes,
        CASE "by" WHEN 'name+shape' THEN i.types END AS types,
        c.call_count,
        c.replay_count,
        c.call_count + c.replay_count AS executed,
        c.self_device_ns,
        c.replay_ns,
        c.formula,
        c.precision,
        c.bytes_bound,
        g.device,
        executed * c.masked_flop_count::DOUBLE AS flop,
        executed * c.flop_count::DOUBLE AS full_flop,
        executed * c.read_bytes::DOUBLE AS read_bytes,
        executed * c.write_bytes::DOUBLE AS write_bytes,
        pf.flop_per_s,
        pd.bytes_per_s,
        c.formula IN ('matmul', 'convolution', 'attention', 'moe') AS has_products,
        coalesce(
            c.unknown,
            CASE WHEN pd.bytes_per_s IS NULL OR has_products AND pf.flop_per_s IS NULL THEN 'no-peak' END
        ) AS unknown
    FROM op_cost c
    JOIN op_name n ON n.run_id = run AND n.op_name_id = c.op_name_id
    LEFT JOIN op_input i ON i.run_id = run AND i.op_input_id = c.op_input_id
    LEFT JOIN gpu g ON g.source_id = c.source_id
    LEFT JOIN _precision_roof pf ON pf.name = g.device AND pf.precision = c.precision
    LEFT JOIN _device_roof pd ON pd.name = g.device AND pd.resource = 'dram'
    WHERE c.run_id = run
        AND c.source_id IN (SELECT s.source_id FROM _operator_source(run, source := source) s)
        AND (stage IS NULL OR c.stage = stage)
        AND _fits(n.name, operator)
), bound AS (
    SELECT
        p.operator,
        p.shapes,
        p.types,
        p.call_count,
        p.replay_count,
        p.self_device_ns,
        p.replay_ns,
        p.formula,
        p.precision,
        p.bytes_bound,
        p.device,
        p.flop,
        p.full_flop,
        p.read_bytes,
        p.write_bytes,
        p.flop_per_s,
        p.bytes_per_s,
        p.unknown,
        CASE WHEN p.unknown IS NULL THEN 1e9 * (p.read_bytes + p.write_bytes) / p.bytes_per_s END AS memory_ns,
        CASE
            WHEN p.unknown IS NULL THEN CASE WHEN p.has_products THEN 1e9 * p.flop / p.flop_per_s ELSE 0 END
        END AS compute_ns
    FROM part p
), t AS (
    SELECT
        b.operator,
        b.shapes,
        b.types,
        sum(b.call_count)::BIGINT AS calls,
        sum(b.replay_count)::BIGINT AS replays,
        sum(b.self_device_ns)::BIGINT AS self_device_ns,
        sum(b.replay_ns)::BIGINT AS replay_ns,
        sum(greatest(b.memory_ns, b.compute_ns)) AS roof_ns,
        sum(b.memory_ns) AS memory_ns,
        sum(b.compute_ns) AS compute_ns,
        CASE WHEN count(b.flop) = count(*) THEN sum(b.flop) END AS flop,
        CASE WHEN count(b.full_flop) = count(*) THEN sum(b.full_flop) END AS full_flop,
        CASE WHEN count(b.read_bytes) = count(*) THEN sum(b.read_bytes) END AS read_bytes,
        CASE WHEN count(b.write_bytes) = count(*) THEN sum(b.write_bytes) END AS write_bytes,
        CASE
            WHEN min(b.flop_per_s) = max(b.flop_per_s) AND count(b.flop_per_s) = count(*) THEN min(b.flop_per_s)
        END AS flop_per_s,
        CASE
            WHEN min(b.bytes_per_s) = max(b.bytes_per_s) AND count(b.bytes_per_s) = count(*) THEN min(b.bytes_per_s)
        END AS bytes_per_s,
        CASE
            WHEN min(b.precision) = max(b.precision) AND count(b.precision) = count(*) THEN min(b.precision)
        END AS precision,
        min(b.bytes_bound) FILTER (b.bytes_bound <> 'exact') AS loose,
        min(b.bytes_bound) AS bytes_bound,
        min(b.formula) AS formula,
        b.unknown,
        CASE WHEN min(b.device) = max(b.device) AND count(b.device) = count(*) THEN min(b.device) END AS device
    FROM bound b
    GROUP BY b.operator, b.shapes, b.types, b.unknown
)
SELECT
    t.operator,
    t.shapes,
    t.types,
    t.calls,
    t.replays,
    t.self_device_ns,
    t.replay_ns,
    t.roof_ns,
    CASE WHEN t.roof_ns IS NULL THEN NULL WHEN t.memory_ns >= t.compute_ns THEN 'memory' ELSE 'compute' END AS side,
    t.flop,
    t.full_flop,
    t.read_bytes,
    t.write_bytes,
    1e9 * (t.read_bytes + t.write_bytes) / nullif(t.self_device_ns, 0) AS achieved_bytes_per_s,
    1e9 * (t.read_bytes + t.write_bytes) / nullif(t.self_device_ns, 0) / t.bytes_per_s AS dram_ratio,
    t.flop_per_s AS roof_flop_per_s,
    t.bytes_per_s AS roof_bytes_per_s,
    t.precision,
    coalesce(t.loose, t.bytes_bound) AS bytes_bound,
    t.formula,
    t.unknown,
    t.device
FROM t
