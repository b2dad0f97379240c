-- operator-shapes v2: Operators by input shapes, as top-operators by name+shape, with the spread of their calls.
-- grain: one operator and inputs
-- key: operator, shapes, types
-- notes: operators operator-sums operator-shapes outside launch
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: only operators that match one of these globs, separated by commas
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only operators called, or replayed in a graph, in this stage; (none) for those outside every stage
--   {operator source}
-- columns:
--   rank: rank by self_device_ns
--   operator: operator name
--   shapes: sizes of each input tensor, as JSON; NULL when not recorded
--   calls: calls, as in top-operators, those that a stream capture recorded included, graph replays not
--   self_device_ns: device time of the kernels, copies and fills it launched itself, excluding operators inside it; graph replays count the
--     work captured in it
--   total_device_ns: device time including operators inside it
--   share_ratio: self_device_ns as a share of all device work of the capture, in the selected stage; for key_averages, of the total that
--     PyTorch printed, else of the kernels and copies in the table, else of all operators; NULL without device work
--   mean_ns: mean device time of a call that was not captured, operators inside it included, graph replays excluded: a captured call
--     launches nothing that runs, and a replay is no call; NULL without such calls, and when only sums are known, as for key_averages
--   min_ns: shortest device time of these calls
--   max_ns: longest device time of these calls
--   std_ns: sample standard deviation (n-1); NULL for a single one
--   self_cpu_mean_ns: mean CPU time of a call, excluding the operators and CUDA API calls inside it
--   call_flop: FLOP per call by PyTorch's formulas, a multiply-add counts 2; NULL without a formula or recorded inputs
--   flop_per_s: FLOP of the calls with device work / their device time, operators inside them included, graph replays excluded
--   types: type of each input, as JSON; NULL when not recorded
--   captured_calls: part of calls that only a stream capture recorded: replays run what they launched; NULL for key_averages

WITH t AS (
    SELECT
        coalesce(n.name, s.operator) AS operator,
        coalesce(i.shapes, s.shapes) AS shapes,
        i.types,
        sum(
            CASE
                WHEN stage IS NULL OR s.stage IS NOT NULL THEN s.call_count
                ELSE error('ARGUMENT: --stage needs the calls of operators; key_averages has only their sums')::BIGINT
            END
        )::BIGINT AS calls,
        sum(s.self_device_ns)::BIGINT AS self_device_ns,
        sum(s.shape_device_ns)::BIGINT AS call_device_ns,
        sum(s.shape_device_ns + coalesce(s.shape_replay_ns, 0))::BIGINT AS total_device_ns,
        sum(s.self_cpu_ns)::BIGINT AS self_cpu_ns,
        sum(s.captured_count)::BIGINT AS captured_calls,
        sum(s.flop_count)::BIGINT AS flop_count,
        sum(s.timed_flop_count)::BIGINT AS timed_flop_count,
        sum(s.flop_ns)::BIGINT AS flop_ns,
        sum(s.shape_count)::BIGINT AS n,
        min(s.shape_min_ns) AS min_ns,
        max(s.shape_max_ns) AS max_ns,
        sum(s.square_high) * 1000000000000000000::HUGEINT + sum(s.square_low) AS squares
    FROM op_sum s
    LEFT JOIN op_name n ON n.run_id = run AND n.op_name_id = s.op_name_id
    LEFT JOIN op_input i ON i.run_id = run AND i.op_input_id = s.op_input_id
    WHERE s.run_id = run
        AND s.source_id IN (
            SELECT c.source_id
            FROM _operator_source(run, source := source, "by" := 'name+shape') c
        )
        AND (stage IS NULL OR coalesce(s.stage, stage) = stage)
        AND _fits(coalesce(n.name, s.operator), operator)
    GROUP BY ALL
)
SELECT
    row_number() OVER (
        ORDER BY t.self_device_ns DESC NULLS LAST, t.self_cpu_ns DESC NULLS LAST, t.operator, t.shapes, t.types
    ) AS rank,
    t.operator,
    t.shapes,
    t.calls,
    t.self_device_ns,
    t.total_device_ns,
    t.self_device_ns
        / nullif(
            coalesce(
                (
                    SELECT sum(d.total_ns)
                    FROM _operator_work(run, stage := stage, source := source) d
                ),
                (SELECT sum(x.self_device_ns) FROM t x)
            ),
            0
        ) AS share_ratio,
    CASE WHEN t.n > 0 THEN t.call_device_ns / t.n END AS mean_ns,
    t.min_ns,
    t.max_ns, -- from exact sums, as _std
    CASE WHEN t.n > 1 THEN sqrt(_spread(t.n, t.call_device_ns, t.squares) / (t.n::DOUBLE * (t.n - 1))) END AS std_ns,
    t.self_cpu_ns / nullif(t.calls, 0) AS self_cpu_mean_ns,
    t.flop_count / nullif(t.calls, 0) AS call_flop,
    1e9 * t.timed_flop_count / nullif(t.flop_ns, 0) AS flop_per_s,
    t.types,
    t.captured_calls
FROM t
QUALIFY top = 0 OR rank <= top
ORDER BY rank
