-- op_sum: Operator calls by name, inputs and caller, and the sums of PyTorch's key_averages. A graph replay is not a call; its work counts
--     in its own stage, with the operators that captured its nodes.
-- grain: one operator, caller, stage, inputs and Python stack in a source; for key_averages, one operator and inputs
-- key: source_id, capture, op_name_id, caller_op_name_id, stage, op_input_id, stack_id, operator, shapes
-- needs: op_source
-- columns:
--   source_id INTEGER: the source
--   capture VARCHAR: as in op_source
--   op_name_id BIGINT: operator name; NULL for key_averages
--   caller_op_name_id BIGINT: operator that called it; 0 when no operator did, NULL for key_averages
--   operator VARCHAR: operator name in key_averages; NULL for others
--   stage VARCHAR: stage of the call, or of a graph replay's launch; (none) outside every stage, NULL for key_averages
--   op_input_id BIGINT: inputs, the least of those with the same shapes and types; NULL when not recorded, or for key_averages; for a call
--     whose caller of the same name only calls it, those of the caller
--   shapes VARCHAR: sizes of each input tensor in key_averages, as JSON; NULL when not recorded, or for others
--   stack_id BIGINT: Python stack of the call; NULL when not recorded
--   call_count BIGINT: number of calls; an operator that only calls another of the same name counts as one call with it
--   captured_count BIGINT: part of call_count that only a stream capture recorded: these calls launched nothing that ran, their device time
--     is none, and not 0; NULL for key_averages
--   self_device_ns BIGINT: device time of the work it launched itself, excluding operators inside it; graph replays count the work captured
--     in it; NULL when no device work was recorded
--   total_device_ns BIGINT: device time including operators inside it; nested calls of the same operator count once
--   shape_device_ns BIGINT: device time of calls including operators inside them; nested calls of the same operator and inputs count once
--   call_device_ns BIGINT: device time of every call in call_count, including operators inside it
--   self_replay_ns BIGINT: part of self_device_ns from graph replays
--   shape_replay_ns BIGINT: graph replay time that shape_device_ns excludes
--   self_cpu_ns BIGINT: CPU time, excluding the operators and CUDA API calls inside it
--   total_cpu_ns BIGINT: CPU time; nested calls of the same operator count once
--   shape_cpu_ns BIGINT: CPU time; nested calls of the same operator and inputs count once
--   call_cpu_ns BIGINT: CPU time of every call in call_count
--   work_count BIGINT: kernels, copies and fills it launched itself; NULL for key_averages
--   flop_count BIGINT: FLOP by PyTorch's formulas; NULL without a formula or recorded inputs
--   timed_flop_count BIGINT: part of flop_count in calls with device work: a call that was only captured into a graph has none; NULL for
--     key_averages
--   flop_ns BIGINT: device time of these calls, operators inside them included, graph replays excluded; NULL for key_averages
--   device_alloc_bytes BIGINT: GPU memory it allocated, excluding operators inside it; NULL when not recorded, or for key_averages
--   device_free_bytes BIGINT: GPU memory it freed, excluding operators inside it; NULL when not recorded, or for key_averages
--   device_net_bytes BIGINT: allocated less freed
--   host_net_bytes BIGINT: CPU memory allocated less freed; negative when more was freed
--   shape_count BIGINT: calls in shape_device_ns, without those that were only captured; 0 for key_averages
--   shape_min_ns BIGINT: shortest device time of one of them
--   shape_max_ns BIGINT: longest device time of one of them
--   square_high BIGINT: sum of the squares of these times, in whole units of 1e18 ns2, exact where neither BIGINT nor DOUBLE would be
--   square_low BIGINT: remainder of that sum, in ns2

WITH RECURSIVE odd AS MATERIALIZED ( -- few: what joins only these is spared for all others
    SELECT
        o.op_id,
        o.source_id,
        o.parent_op_id,
        o.op_name_id,
        o.path_id,
        o.op_input_id,
        o.stack_id,
        o.is_folded,
        o.self_device_ns,
        o.total_device_ns,
        o.self_cpu_ns,
        o.duration_ns,
        o.self_work_count,
        o.flop_count,
        o.device_alloc_bytes,
        o.device_free_bytes,
        o.host_alloc_bytes - o.host_free_bytes AS host_net_bytes
    FROM op o
    WHERE o.run_id = $run AND (o.is_folded OR o.is_nested)
), owner AS ( -- a folded call counts with the inputs of the call that it is one with
    SELECT
        odd.op_id,
        odd.parent_op_id AS owner_op_id
    FROM odd
    WHERE odd.is_folded
    UNION ALL
    SELECT owner.op_id, odd.parent_op_id
    FROM owner JOIN odd ON odd.op_id = owner.owner_op_id
    WHERE odd.is_folded
), alike AS ( -- calls on a thread nest, so one that began before and ends no earlier is around it
    SELECT
        o.op_id,
        o.op_input_id,
        o.is_nested,
        max(o.start_ns + o.duration_ns) OVER (
            PARTITION BY o.source_id, o.pid, o.tid, o.op_name_id, o.op_input_id
            ORDER BY o.start_ns, o.depth
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS last_end_ns,
        o.start_ns,
        o.start_ns + o.duration_ns AS end_ns
    FROM op o
    WHERE o.run_id = $run
        AND NOT o.is_folded
        AND o.op_name_id IN (SELECT odd.op_name_id FROM odd WHERE NOT odd.is_folded)
), inside AS MATERIALIZED (
    SELECT owner.op_id, o.op_input_id, true AS is_nested
    FROM owner JOIN op o ON o.run_id = $run AND o.op_id = owner.owner_op_id
    WHERE NOT o.is_folded
    UNION ALL
    SELECT
        a.op_id,
        a.op_input_id,
        coalesce(a.last_end_ns >= a.end_ns AND a.last_end_ns > a.start_ns, false)
    FROM alike a
    WHERE a.is_nested
), input AS ( -- whatever their strides and values
    SELECT
        i.op_input_id,
        min(i.op_input_id) OVER (PARTITION BY i.shapes, i.types) AS alike_id
    FROM op_input i
    WHERE i.run_id = $run
), call AS NOT MATERIALIZED (
    SELECT
        o.op_id,
        o.source_id,
        o.parent_op_id,
        o.op_name_id,
        o.path_id,
        o.op_input_id,
        o.stack_id,
        g.op_id IS NOT NULL AS is_captured,
        false AS is_folded,
        false AS is_inside,
        false AS is_shape_inside,
        o.self_device_ns,
        o.total_device_ns,
        o.self_cpu_ns,
        o.duration_ns,
        o.self_work_count,
        o.flop_count,
        o.device_alloc_bytes,
        o.device_free_bytes,
        o.host_alloc_bytes - o.host_free_bytes AS host_net_bytes
    FROM op o LEFT JOIN captured_call g ON g.run_id = $run AND g.op_id = o.op_id
    WHERE o.run_id = $run AND NOT (o.is_folded OR o.is_nested)
    UNION ALL
    SELECT
        o.op_id,
        o.source_id,
        o.parent_op_id,
        o.op_name_id,
        o.path_id,
        CASE WHEN x.op_id IS NULL THEN o.op_input_id ELSE x.op_input_id END,
        o.stack_id,
        g.op_id IS NOT NULL,
        o.is_folded,
        true,
        coalesce(x.is_nested, false),
        o.self_device_ns,
        o.total_device_ns,
        o.self_cpu_ns,
        o.duration_ns,
        o.self_work_count,
        o.flop_count,
        o.device_alloc_bytes,
        o.device_free_bytes,
        o.host_net_bytes
    FROM odd o
    LEFT JOIN inside x ON x.op_id = o.op_id
    LEFT JOIN captured_call g ON g.run_id = $run AND g.op_id = o.op_id
), amount AS (
    SELECT
        c.source_id,
        c.parent_op_id,
        c.op_name_id,
        c.path_id,
        NULL::VARCHAR AS replay_stage,
        c.op_input_id,
        c.stack_id,
        c.is_captured,
        c.is_folded,
        c.is_inside,
        c.is_shape_inside,
        false AS is_replay,
        c.self_device_ns,
        c.total_device_ns,
        c.self_cpu_ns,
        c.duration_ns,
        c.self_work_count,
        c.flop_count,
        c.device_alloc_bytes,
        c.device_free_bytes,
        c.host_net_bytes
    FROM call c
    UNION ALL
    SELECT
        c.source_id,
        c.parent_op_id,
        c.op_name_id,
        c.path_id,
        r.stage,
        CASE WHEN r.has_inputs THEN c.op_input_id END,
        CASE WHEN r.has_stack THEN c.stack_id END,
        false,
        c.is_folded,
        c.is_inside,
        c.is_shape_inside,
        true,
        CASE WHEN r.is_leaf THEN r.total_ns ELSE 0 END,
        r.total_ns,
        0,
        0,
        CASE WHEN r.is_leaf THEN r.work_count ELSE 0 END,
        NULL,
        NULL,
        NULL,
        NULL
    FROM call c JOIN _op_replay r ON r.op_id = c.op_id
), part AS (
    SELECT
        c.source_id,
        c.op_name_id,
        p.op_name_id AS caller_name_id,
        coalesce(c.replay_stage, s.stage, '(none)') AS stage,
        i.alike_id,
        c.stack_id,
        c.is_captured,
        c.is_folded,
        c.is_inside,
        c.is_shape_inside,
        c.is_replay,
        c.self_device_ns,
        c.total_device_ns,
        c.self_cpu_ns,
        c.duration_ns,
        c.self_work_count,
        c.flop_count,
        c.device_alloc_bytes,
        c.device_free_bytes,
        c.host_net_bytes
    FROM amount c
    LEFT JOIN op p ON p.run_id = $run AND p.op_id = c.parent_op_id
    LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = c.path_id
    LEFT JOIN input i ON i.op_input_id = c.op_input_id
), t AS (
    SELECT
        c.source_id,
        c.op_name_id,
        c.caller_name_id,
        c.stage,
        c.alike_id,
        c.stack_id,
        count(*) FILTER (NOT c.is_folded AND NOT c.is_replay) AS call_count,
        count(*) FILTER (NOT c.is_folded AND c.is_captured) AS captured_count,
        sum(c.self_device_ns)::BIGINT AS self_device_ns,
        coalesce(sum(c.total_device_ns) FILTER (NOT c.is_inside), 0)::BIGINT AS total_device_ns,
        coalesce(
            sum(c.total_device_ns) FILTER (NOT c.is_shape_inside AND NOT c.is_replay),
            0
        )::BIGINT AS shape_device_ns,
        coalesce(sum(c.self_device_ns) FILTER (c.is_replay), 0)::BIGINT AS self_replay_ns,
        coalesce(sum(c.total_device_ns) FILTER (NOT c.is_shape_inside AND c.is_replay), 0)::BIGINT AS shape_replay_ns,
        coalesce(sum(c.total_device_ns) FILTER (NOT c.is_folded AND NOT c.is_replay), 0)::BIGINT AS call_device_ns,
        sum(c.self_cpu_ns)::BIGINT AS self_cpu_ns,
        coalesce(sum(c.duration_ns) FILTER (NOT c.is_inside), 0)::BIGINT AS total_cpu_ns,
        coalesce(sum(c.duration_ns) FILTER (NOT c.is_shape_inside), 0)::BIGINT AS shape_cpu_ns,
        coalesce(sum(c.duration_ns) FILTER (NOT c.is_folded), 0)::BIGINT AS call_cpu_ns,
        sum(c.self_work_count)::BIGINT AS work_count,
        sum(c.flop_count) FILTER (NOT c.is_folded)::BIGINT AS flop_count,
        sum(c.flop_count) FILTER (NOT c.is_folded AND c.total_device_ns > 0)::BIGINT AS timed_flop_count,
        sum(c.total_device_ns) FILTER (NOT c.is_folded AND c.flop_count IS NOT NULL)::BIGINT AS flop_ns,
        sum(c.device_alloc_bytes)::BIGINT AS device_alloc_bytes,
        sum(c.device_free_bytes)::BIGINT AS device_free_bytes,
        sum(c.host_net_bytes)::BIGINT AS host_net_bytes,
        count(c.total_device_ns) FILTER (
            NOT c.is_shape_inside AND NOT c.is_replay AND NOT c.is_captured
        ) AS shape_count,
        min(c.total_device_ns) FILTER (NOT c.is_shape_inside AND NOT c.is_replay AND NOT c.is_captured) AS shape_min_ns,
        max(c.total_device_ns) FILTER (NOT c.is_shape_inside AND NOT c.is_replay AND NOT c.is_captured) AS shape_max_ns,
        coalesce(
            sum(c.total_device_ns::HUGEINT * c.total_device_ns) FILTER (NOT c.is_shape_inside AND NOT c.is_replay),
            0
        ) AS squares
    FROM part c
    GROUP BY c.source_id, c.op_name_id, c.caller_name_id, c.stage, c.alike_id, c.stack_id
)
SELECT
    t.source_id,
    x.capture,
    t.op_name_id,
    coalesce(t.caller_name_id, 0) AS caller_op_name_id,
    NULL::VARCHAR AS operator,
    t.stage,
    t.alike_id AS op_input_id,
    NULL::VARCHAR AS shapes,
    t.stack_id,
    t.call_count,
    t.captured_count,
    t.self_device_ns,
    CASE WHEN t.self_device_ns IS NOT NULL THEN t.total_device_ns END AS total_device_ns,
    CASE WHEN t.self_device_ns IS NOT NULL THEN t.shape_device_ns END AS shape_device_ns,
    CASE WHEN t.self_device_ns IS NOT NULL THEN t.call_device_ns END AS call_device_ns,
    CASE WHEN t.self_device_ns IS NOT NULL THEN t.self_replay_ns END AS self_replay_ns,
    CASE WHEN t.self_device_ns IS NOT NULL THEN t.shape_replay_ns END AS shape_replay_ns,
    t.self_cpu_ns,
    t.total_cpu_ns,
    t.shape_cpu_ns,
    t.call_cpu_ns,
    t.work_count,
    t.flop_count,
    t.timed_flop_count,
    t.flop_ns,
    t.device_alloc_bytes,
    t.device_free_bytes,
    t.device_alloc_bytes - t.device_free_bytes AS device_net_bytes,
    t.host_net_bytes,
    t.shape_count,
    t.shape_min_ns,
    t.shape_max_ns,
    (t.squares // 1000000000000000000)::BIGINT AS square_high,
    (t.squares % 1000000000000000000)::BIGINT AS square_low
FROM t
JOIN op_source x ON x.run_id = $run AND x.source_id = t.source_id AND x.capture <> 'key_averages'
UNION ALL -- the file does not tell operators from ranges; CUDA's functions and memory outside of operators have names that no operator has
SELECT
    a.source_id,
    'key_averages',
    NULL,
    NULL,
    a.name,
    NULL,
    NULL,
    a.shapes,
    NULL,
    sum(a.call_count)::BIGINT,
    NULL,
    sum(a.self_device_ns)::BIGINT,
    sum(a.total_device_ns)::BIGINT,
    sum(a.total_device_ns)::BIGINT,
    sum(a.total_device_ns)::BIGINT,
    NULL,
    NULL,
    sum(a.self_cpu_ns)::BIGINT,
    sum(a.total_cpu_ns)::BIGINT,
    sum(a.total_cpu_ns)::BIGINT,
    sum(a.total_cpu_ns)::BIGINT,
    NULL,
    sum(nullif(a.flop_count, 0))::BIGINT,
    NULL,
    NULL,
    NULL,
    NULL,
    sum(a.self_device_bytes)::BIGINT,
    sum(a.self_host_bytes)::BIGINT,
    0,
    NULL,
    NULL,
    NULL,
    NULL
FROM op_average a
WHERE a.run_id = $run
    AND a.kind = 'cpu'
    AND NOT regexp_matches(a.name, '^((cu|cuda|hip)[A-Z]|\[(memory|OutOfMemory)\]$)')
GROUP BY a.source_id, a.name, a.shapes
