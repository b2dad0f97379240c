-- top-operators v2: Operators by the time of the device work they launched, as PyTorch's key_averages, with the work outside operators.
--     Graph replays count with the operators that captured them where the capture records which. Warm-up counts too, as in key_averages;
--     --stage picks a stage.
-- grain: one operator, or by name+shape one operator and its inputs; and each kind of work outside operators
-- key: operator, shapes, types
-- notes: operators operator-sums outside launch
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   by VARCHAR = 'name': group by name, or by name+shape to separate an operator's inputs
--   stage VARCHAR = NULL: only operators called, or replayed in a graph, in this stage; (none) for those outside every stage
--   sort VARCHAR = 'self_device': sort by self_device, total_device, self_cpu, total_cpu, memory (device_alloc_bytes) or calls; ties by
--     device time, then CPU time
--   operator VARCHAR = NULL: only operators that match one of these globs, separated by commas
--   {operator source}
-- columns:
--   rank: rank in the order of sort
--   operator: operator name; (graph replay) for CUDA graph replays without a known operator, (none) for other work launched outside every
--     operator (in key_averages for all work without an operator), (no launch) when the launch was not captured
--   calls: number of calls; an operator that only calls another of the same name counts as one call with it; calls that a stream capture
--     recorded count, as in key_averages, graph replays do not; NULL outside operators
--   self_device_ns: device time of the kernels, copies and fills it launched itself, excluding operators inside it; graph replays count the
--     work captured in it; NULL when no device work was recorded
--   total_device_ns: device time including operators inside it; nested calls of the same operator count once
--   self_cpu_ns: CPU time, excluding the operators and CUDA API calls inside it
--   total_cpu_ns: CPU time including operators inside it; nested calls of the same operator count once
--   share_ratio: self_device_ns as a share of all device work of the capture, in the selected stage; for key_averages, of the total that
--     PyTorch printed, else of the kernels and copies in the table, else of all operators; NULL without device work
--   work_count: kernels, copies and fills it launched itself; NULL for key_averages
--   self_device_mean_ns: mean self device time of a call, graph replays and calls that were only captured excluded; NULL without other
--     calls
--   flop_count: FLOP by PyTorch's formulas, a multiply-add counts 2; NULL without a formula or recorded inputs
--   flop_per_s: FLOP of the calls with device work / their device time, operators inside them included, graph replays excluded; NULL for
--     key_averages
--   device_alloc_bytes: GPU memory it allocated, excluding operators inside it; NULL when not recorded, or for key_averages
--   device_free_bytes: GPU memory it freed, excluding operators inside it; NULL when not recorded, or for key_averages
--   device_net_bytes: allocated less freed: PyTorch's self memory; negative when more was freed
--   host_net_bytes: CPU memory allocated less freed; negative when more was freed
--   replay_ns: part of self_device_ns from graph replays; NULL for key_averages
--   captured_calls: part of calls that only a stream capture recorded: they launched nothing that ran, replays do; NULL for key_averages
--   shapes: by name+shape, sizes of each input tensor, as JSON; NULL by name or when not recorded
--   types: by name+shape, type of each input, as JSON; NULL by name, when not recorded, or for key_averages

-- Long: work inside operators and outside of them are rows of the same 25 columns.
WITH part AS (
    SELECT
        coalesce(n.name, s.operator) AS operator,
        CASE "by"
            WHEN 'name+shape' THEN coalesce(i.shapes, s.shapes)
            WHEN 'name' THEN NULL
            ELSE error('ARGUMENT: --by is name or name+shape')
        END AS shapes,
        CASE "by" WHEN 'name+shape' THEN i.types END AS types,
        CASE
            WHEN stage IS NULL OR s.stage IS NOT NULL THEN s.call_count
            ELSE error('ARGUMENT: --stage needs the calls of operators; key_averages has only their sums')::BIGINT
        END AS calls,
        s.self_device_ns,
        CASE "by"
            WHEN 'name' THEN s.total_device_ns
            ELSE s.shape_device_ns + coalesce(s.shape_replay_ns, 0)
        END AS total_device_ns,
        s.self_cpu_ns,
        CASE "by" WHEN 'name' THEN s.total_cpu_ns ELSE s.shape_cpu_ns END AS total_cpu_ns,
        s.captured_count,
        s.work_count,
        s.self_replay_ns,
        s.flop_count,
        s.timed_flop_count,
        s.flop_ns,
        s.device_alloc_bytes,
        s.device_free_bytes,
        s.device_net_bytes,
        s.host_net_bytes
    FROM op_sum s
    LEFT JOIN op_name n ON n.run_id = run AND n.op_name_id = s.op_name_id
    LEFT JOIN op_input i ON i.run_id = run AND i.op_input_id = s.op_input_id
    WHERE s.run_id = run
        AND s.source_id IN (
            SELECT c.source_id
            FROM _operator_source(run, source := source, "by" := "by") c
        )
        AND (stage IS NULL OR coalesce(s.stage, stage) = stage)
        AND _fits(coalesce(n.name, s.operator), operator)
), t AS (
    SELECT
        p.operator,
        p.shapes,
        p.types,
        sum(p.calls)::BIGINT AS calls,
        sum(p.captured_count)::BIGINT AS captured_calls,
        sum(p.self_device_ns)::BIGINT AS self_device_ns,
        sum(p.total_device_ns)::BIGINT AS total_device_ns,
        sum(p.self_cpu_ns)::BIGINT AS self_cpu_ns,
        sum(p.total_cpu_ns)::BIGINT AS total_cpu_ns,
        sum(p.work_count)::BIGINT AS work_count,
        sum(p.self_replay_ns)::BIGINT AS replay_ns,
        sum(p.flop_count)::BIGINT AS flop_count,
        sum(p.timed_flop_count)::BIGINT AS timed_flop_count,
        sum(p.flop_ns)::BIGINT AS flop_ns,
        sum(p.device_alloc_bytes)::BIGINT AS device_alloc_bytes,
        sum(p.device_free_bytes)::BIGINT AS device_free_bytes,
        sum(p.device_net_bytes)::BIGINT AS device_net_bytes,
        sum(p.host_net_bytes)::BIGINT AS host_net_bytes
    FROM part p
    GROUP BY p.operator, p.shapes, p.types
), device AS (
    SELECT w.operator, w.is_outside, w.work_count, w.total_ns
    FROM _operator_work(run, stage := stage, source := source) w
), q AS (
    SELECT
        t.operator,
        t.shapes,
        t.types,
        t.calls,
        t.self_device_ns,
        t.total_device_ns,
        t.self_cpu_ns,
        t.total_cpu_ns,
        t.work_count,
        t.replay_ns,
        t.captured_calls,
        (t.self_device_ns - coalesce(t.replay_ns, 0))
            / nullif(t.calls - coalesce(t.captured_calls, 0), 0) AS self_device_mean_ns,
        t.flop_count,
        1e9 * t.timed_flop_count / nullif(t.flop_ns, 0) AS flop_per_s,
        t.device_alloc_bytes,
        t.device_free_bytes,
        t.device_net_bytes,
        t.host_net_bytes
    FROM t
    UNION ALL BY NAME
    SELECT
        d.operator,
        d.total_ns AS self_device_ns,
        d.total_ns AS total_device_ns,
        d.work_count
    FROM device d
    WHERE d.is_outside AND _fits(d.operator, operator)
), s AS ( -- on its own: DuckDB 2.0 refuses an expression that may raise an error in the order of a window
    SELECT
        q.operator,
        q.shapes,
        q.types,
        q.calls,
        q.self_device_ns,
        q.total_device_ns,
        q.self_cpu_ns,
        q.total_cpu_ns,
        q.work_count,
        q.replay_ns,
        q.captured_calls,
        q.self_device_mean_ns,
        q.flop_count,
        q.flop_per_s,
        q.device_alloc_bytes,
        q.device_free_bytes,
        q.device_net_bytes,
        q.host_net_bytes,
        CASE sort
            WHEN 'self_device' THEN q.self_device_ns
            WHEN 'total_device' THEN q.total_device_ns
            WHEN 'self_cpu' THEN q.self_cpu_ns
            WHEN 'total_cpu' THEN q.total_cpu_ns
            WHEN 'memory' THEN q.device_alloc_bytes
            WHEN 'calls' THEN q.calls
            ELSE error('ARGUMENT: --sort is self_device, total_device, self_cpu, total_cpu, memory or calls')::BIGINT
        END AS sorted_by
    FROM q
)
SELECT
    row_number() OVER (
        ORDER BY q.sorted_by DESC NULLS LAST, q.self_device_ns DESC NULLS LAST, q.self_cpu_ns DESC NULLS LAST,
            q.operator, q.shapes, q.types
    ) AS rank,
    q.operator,
    q.calls,
    q.self_device_ns,
    q.total_device_ns,
    q.self_cpu_ns,
    q.total_cpu_ns,
    q.self_device_ns
        / nullif(
            coalesce((SELECT sum(d.total_ns) FROM device d), (SELECT sum(x.self_device_ns) FROM q x)),
            0
        ) AS share_ratio,
    q.work_count,
    q.self_device_mean_ns,
    q.flop_count,
    q.flop_per_s,
    q.device_alloc_bytes,
    q.device_free_bytes,
    q.device_net_bytes,
    q.host_net_bytes,
    q.replay_ns,
    q.captured_calls,
    q.shapes,
    q.types
FROM s q
QUALIFY top = 0 OR rank <= top
ORDER BY rank
