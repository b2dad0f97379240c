-- operator-roofline v1: Where operators take longer than the GPU's peaks allow: device time of the work they launched, or that graph
--     replays repeat, against the time at the roof, from FLOP and bytes that their inputs imply.
-- grain: one operator and inputs, or by name one operator, apart by why a figure is unknown
-- key: operator, shapes, types, unknown
-- notes: operators operator-shapes operator-roof outside peak
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   by VARCHAR = 'name+shape': group by name+shape, or by name where most calls have shapes of their own
--   operator VARCHAR = NULL: only operators that match one of these globs, separated by commas
--   stage VARCHAR = NULL: only operators called, or replayed in a graph, in this stage; (none) for those outside every stage
--   sort VARCHAR = 'lost': sort by lost (lost_ns) or self_device; ties by device time
--   {operator source}
-- columns:
--   rank: rank in the order of sort
--   operator: operator name
--   shapes: sizes of each input tensor, as JSON; NULL by name, when not recorded, and where captures with several inputs fit a replay
--   calls: calls that launched device work themselves; a call that only a stream capture recorded launched none
--   self_device_ns: device time of the work that these calls launched themselves, and of the replays
--   lost_ns: self_device_ns - roof_ns: the time to be gained at most; negative where the work was faster than the roof
--   attained_ratio: roof_ns / self_device_ns. Over 1 where data came out of the L2 cache, and where bytes are an upper bound
--   side: memory or compute: the peak that bounds it; NULL when unknown
--   share_ratio: self_device_ns as a share of all device work of the capture, in the selected stage
--   dram_ratio: achieved_bytes_per_s / roof_bytes_per_s. Over 1 where data came out of the L2 cache
--   achieved_flop_per_s: flop / self_device_ns
--   bytes_bound: exact; upper or lower where the bytes depend on values that are not recorded
--   unknown: why a figure is unknown, as in op_cost, or no-peak; NULL when nothing is
--   roof_ns: least time that the peaks allow, execution by execution the longer of bytes / roof_bytes_per_s and FLOP / roof_flop_per_s;
--     NULL when a figure is unknown
--   flop: FLOP of matrix products, convolutions and attention, without what a mask leaves out, and of sums and products of elements; NULL
--     when unknown, and for operators without them
--   full_flop: FLOP as torch.utils.flop_counter counts: attention as if there were no mask
--   read_bytes: bytes that calls and replays must read: each distinct element of an input once
--   write_bytes: bytes that they must write: each element of an output once
--   intensity: flop / (read_bytes + write_bytes)
--   achieved_bytes_per_s: (read_bytes + write_bytes) / self_device_ns
--   roof_flop_per_s: dense peak of the device in this precision; NULL when unknown, and for operators without matrix products
--   roof_bytes_per_s: DRAM bandwidth of the device; NULL when unknown
--   precision: precision of matrix products; NULL when unknown, or without them
--   formula: group of the formula, as in op_cost
--   device: device name; NULL when unknown, or when GPUs of the source differ
--   types: type of each input, as JSON; NULL as shapes
--   replays: executions of captured calls in graph replays: FLOP, bytes and roof_ns count each, as they count each of calls
--   replay_ns: part of self_device_ns from graph replays

WITH s AS ( -- on its own, as in top-operators
    SELECT
        r.operator,
        r.shapes,
        r.calls,
        r.self_device_ns,
        r.side,
        r.roof_ns,
        r.flop,
        r.full_flop,
        r.read_bytes,
        r.write_bytes,
        r.achieved_bytes_per_s,
        r.dram_ratio,
        r.roof_flop_per_s,
        r.roof_bytes_per_s,
        r.precision,
        r.bytes_bound,
        r.formula,
        r.unknown,
        r.device,
        r.types,
        r.replays,
        r.replay_ns,
        CASE sort
            WHEN 'lost' THEN r.self_device_ns - r.roof_ns
            WHEN 'self_device' THEN r.self_device_ns
            ELSE error('ARGUMENT: --sort is lost or self_device')::DOUBLE
        END AS sorted
    FROM _operator_roof(run, "by" := "by", operator := operator, stage := stage, source := source) r
)
SELECT
    row_number() OVER (
        ORDER BY s.sorted DESC NULLS LAST, s.self_device_ns DESC NULLS LAST, s.operator, s.shapes, s.types, s.unknown
    ) AS rank,
    s.operator,
    s.shapes,
    s.calls,
    s.self_device_ns,
    s.self_device_ns - s.roof_ns AS lost_ns,
    s.roof_ns / nullif(s.self_device_ns, 0) AS attained_ratio,
    s.side,
    s.self_device_ns
        / nullif(
            (SELECT sum(d.total_ns) FROM _operator_work(run, stage := stage, source := source) d),
            0
        ) AS share_ratio,
    s.dram_ratio,
    1e9 * s.flop / nullif(s.self_device_ns, 0) AS achieved_flop_per_s,
    s.bytes_bound,
    s.unknown,
    s.roof_ns,
    s.flop,
    s.full_flop,
    s.read_bytes,
    s.write_bytes,
    s.flop / nullif(s.read_bytes + s.write_bytes, 0) AS intensity,
    s.achieved_bytes_per_s,
    s.roof_flop_per_s,
    s.roof_bytes_per_s,
    s.precision,
    s.formula,
    s.device,
    s.types,
    s.replays,
    s.replay_ns
FROM s
QUALIFY top = 0 OR rank <= top
ORDER BY rank
