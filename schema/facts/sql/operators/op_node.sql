-- op_node: Device work by the nn.Module and the chain of operators that launched it, with the inputs of the innermost one: what comparisons
--     of operators align. Its rows add up to all device work of the source.
-- grain: one kernel name or operation launched by operators of the same names and inputs in a module, or outside all operators, in the
--     passes or steps of a stage
-- key: source_id, stage, unit, name_path_id, is_warmup, module_path, op_name_ids, outside, op_input_id, kernel_name_id, operation
-- needs: op
-- columns:
--   source_id INTEGER: the source
--   stage VARCHAR: stage of the pass that it belongs to, by pass_context; (none) outside every pass, and in sources without passes
--   unit VARCHAR: pass, or step in sources without passes: launched from the start of a ProfilerStep# or other step range to that of the
--     next one of the process; run for other work
--   name_path_id BIGINT: name of the step, as name_path_id of step; NULL for other units
--   is_warmup BOOLEAN: whether the pass or step is warm-up, or cold: of a step as in step, by launch
--   module_path VARCHAR: nn.Modules around the call of the operator, as in python_stack; NULL outside modules, without stacks, and where
--     several captures fit a replay
--   op_name_ids BIGINT[]: names of the operators, outermost first, those of the capture for nodes of a graph; NULL outside
--   outside VARCHAR: as in op_work; NULL for work of an operator
--   op_input_id BIGINT: inputs of the innermost operator, the least of those with the same shapes and types; NULL when not recorded, and
--     where several captures fit a replay
--   kernel_name_id BIGINT: kernel name; NULL for copies and fills
--   operation VARCHAR: as in op_work; NULL for kernels
--   op_count BIGINT: calls of the innermost operator of which this was the first work on the device; their sum over kernels is the number
--     of calls
--   work_count BIGINT: executions
--   total_ns BIGINT: sum of the durations
--   unit_ids BIGINT[]: the passes or steps that it is of, ascending: pass_id of stage_pass, or nth of step; [1] for a run
--   unit_ns BIGINT[]: its durations in each of unit_ids: they add up to total_ns
--   first_ns BIGINT: first call of the operator, or launch, from the start of the source: the order of siblings

WITH work AS (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.correlation_id,
        k.graph_node_id,
        k.launch_name_id,
        k.op_id,
        k.range_context_id,
        k.launch_start_ns,
        k.start_ns,
        k.kernel_name_id,
        NULL::VARCHAR AS operation,
        k.duration_ns
    FROM kernel k
    WHERE k.run_id = $run
    UNION ALL
    SELECT
        m.source_id,
        m.pid,
        m.device_id,
        m.correlation_id,
        m.graph_node_id,
        m.launch_name_id,
        m.op_id,
        m.range_context_id,
        m.launch_start_ns,
        m.start_ns,
        NULL,
        m.operation,
        m.duration_ns
    FROM memop m
    WHERE m.run_id = $run
    UNION ALL
    SELECT
        g.source_id,
        g.pid,
        NULL,
        NULL,
        NULL,
        g.launch_name_id,
        0,
        g.range_context_id,
        g.launch_start_ns,
        g.start_ns,
        NULL,
        'graph replay',
        g.duration_ns
    FROM graph_launch g
    WHERE g.run_id = $run AND g.mode = 'graph'
), replay AS (
    SELECT a.api_name_id
    FROM api_name a
    WHERE a.run_id = $run AND contains(a.name, 'GraphLaunch')
), passed AS (
    SELECT DISTINCT p.source_id
    FROM stage_pass p
    WHERE p.run_id = $run
), counted AS ( -- those found cold are warm-up too
    SELECT
        x.range_id,
        bool_or(x.is_warmup) AS is_warmup,
        min(x.nth) AS nth
    FROM step x
    WHERE x.run_id = $run AND x.basis = 'range' AND x.attribution = 'launch'
    GROUP BY x.range_id
), stepped AS ( -- autograd launches from a thread of its own: what counts is when
    SELECT
        s.source_id,
        s.pid,
        s.start_ns,
        min(s.start_ns + s.cpu_ns) AS end_ns,
        coalesce(bool_or(c.is_warmup), false) AS is_warmup,
        min(s.name_path_id) AS name_path_id,
        min(c.nth) AS nth
    FROM _step_range s LEFT JOIN counted c ON c.range_id = s.range_id
    WHERE s.source_id NOT IN (SELECT p.source_id FROM passed p)
    GROUP BY s.source_id, s.pid, s.start_ns
), step_of AS (
    SELECT
        s.source_id,
        s.pid,
        s.start_ns,
        coalesce(lead(s.start_ns) OVER (PARTITION BY s.source_id, s.pid ORDER BY s.start_ns), s.end_ns) AS until_ns,
        s.is_warmup,
        s.name_path_id,
        s.nth
    FROM stepped s
), input AS ( -- whatever their strides and values
    SELECT
        i.op_input_id,
        min(i.op_input_id) OVER (PARTITION BY i.shapes, i.types) AS alike_id
    FROM op_input i
    WHERE i.run_id = $run
), placed AS (
    SELECT
        w.source_id,
        w.pid,
        w.range_context_id,
        coalesce(w.launch_start_ns, w.start_ns) AS launch_ns,
        w.start_ns,
        w.kernel_name_id,
        w.operation,
        w.duration_ns,
        coalesce(n.op_id, r.op_id) AS captured_op_id,
        CASE WHEN captured_op_id > 0 THEN captured_op_id ELSE w.op_id END AS op_id,
        coalesce(captured_op_id > 0 AND captured_op_id IS DISTINCT FROM w.op_id, false) AS is_moved,
        coalesce(r.has_inputs OR r.op_id = 0, true) AS has_inputs,
        coalesce(r.has_stack OR r.op_id = 0, true) AS has_stack,
        CASE
            WHEN captured_op_id > 0 OR w.op_id > 0 THEN NULL
            WHEN w.op_id IS NULL THEN '(no launch)'
            WHEN captured_op_id IS NULL
                AND (w.graph_node_id IS NOT NULL OR w.operation = 'graph replay' OR p.api_name_id IS NOT NULL)
                THEN '(graph replay)'
            ELSE '(none)'
        END AS outside
    FROM work w
    LEFT JOIN _node_op n ON n.source_id = w.source_id AND n.pid = w.pid AND n.graph_node_id = w.graph_node_id
    LEFT JOIN _replay_op r
        ON r.source_id = w.source_id
        AND r.pid = w.pid
        AND r.device_id = w.device_id
        AND r.correlation_id = w.correlation_id
        AND r.start_ns = w.start_ns
    LEFT JOIN replay p ON p.api_name_id = w.launch_name_id
    WHERE w.source_id IN (SELECT x.source_id FROM op_source x WHERE x.run_id = $run AND x.capture <> 'key_averages')
), q AS (
    SELECT
        w.source_id,
        coalesce(c.stage, '(none)') AS stage,
        CASE WHEN c.range_id IS NOT NULL THEN 'pass' WHEN w.launch_ns < s.until_ns THEN 'step' ELSE 'run' END AS unit,
        CASE WHEN c.range_id IS NULL AND w.launch_ns < s.until_ns THEN s.name_path_id END AS name_path_id,
        coalesce(c.is_warmup, w.launch_ns < s.until_ns AND s.is_warmup, false) AS is_warmup,
        w.op_id,
        w.is_moved,
        w.has_inputs,
        w.has_stack,
        w.outside,
        w.kernel_name_id,
        w.operation,
        count(*) AS work_count,
        sum(w.duration_ns)::BIGINT AS total_ns,
        min(w.launch_ns) AS launch_ns,
        min(w.start_ns) AS start_ns,
        coalesce(
            CASE WHEN c.range_id IS NOT NULL THEN p.pass_id WHEN w.launch_ns < s.until_ns THEN s.nth END,
            1
        ) AS unit_id
    FROM placed w
    LEFT JOIN pass_context c ON c.run_id = $run AND c.range_context_id = w.range_context_id
    LEFT JOIN stage_pass p ON p.run_id = $run AND p.range_id = c.range_id
    ASOF LEFT JOIN step_of s ON s.source_id = w.source_id AND s.pid = w.pid AND s.start_ns <= w.launch_ns
    GROUP BY ALL
), first AS (
    SELECT
        q.source_id,
        q.stage,
        q.unit,
        q.name_path_id,
        q.is_warmup,
        q.op_id,
        q.has_inputs,
        q.has_stack,
        q.outside,
        q.kernel_name_id,
        q.operation,
        q.work_count,
        q.total_ns,
        q.launch_ns,
        q.unit_id,
        q.op_id > 0
        AND NOT q.is_moved
        AND row_number() OVER (
            PARTITION BY q.op_id, q.is_moved
            ORDER BY q.start_ns, q.kernel_name_id, q.operation, q.stage, q.unit, q.name_path_id, q.is_warmup, q.unit_id
        )
            = 1 AS is_first
    FROM q
), united AS (
    SELECT
        f.source_id,
        f.stage,
        f.unit,
        f.name_path_id,
        f.is_warmup,
        p.module_path,
        h.op_name_ids,
        f.outside,
        i.alike_id AS op_input_id,
        f.kernel_name_id,
        f.operation,
        f.unit_id,
        count(*) FILTER (f.is_first) AS op_count,
        sum(f.work_count)::BIGINT AS work_count,
        sum(f.total_ns)::BIGINT AS total_ns,
        min(coalesce(o.start_ns, f.launch_ns)) AS first_ns
    FROM first f
    LEFT JOIN op o ON o.run_id = $run AND o.op_id = f.op_id
    LEFT JOIN _op_call c ON c.op_id = f.op_id
    LEFT JOIN op_chain h ON h.run_id = $run AND h.chain_id = c.chain_id
    LEFT JOIN python_stack p ON p.run_id = $run AND p.stack_id = o.stack_id AND f.has_stack
    LEFT JOIN input i ON i.op_input_id = o.op_input_id AND f.has_inputs
    GROUP BY f.source_id, f.stage, f.unit, f.name_path_id, f.is_warmup, p.module_path, h.op_name_ids, f.outside,
        i.alike_id, f.kernel_name_id, f.operation, f.unit_id
)
SELECT
    u.source_id,
    u.stage,
    u.unit,
    u.name_path_id,
    u.is_warmup,
    u.module_path,
    u.op_name_ids,
    u.outside,
    u.op_input_id,
    u.kernel_name_id,
    u.operation,
    sum(u.op_count)::BIGINT AS op_count,
    sum(u.work_count)::BIGINT AS work_count,
    sum(u.total_ns)::BIGINT AS total_ns,
    list(u.unit_id ORDER BY u.unit_id) AS unit_ids,
    list(u.total_ns ORDER BY u.unit_id) AS unit_ns,
    min(u.first_ns) AS first_ns
FROM united u
GROUP BY u.source_id, u.stage, u.unit, u.name_path_id, u.is_warmup, u.module_path, u.op_name_ids, u.outside,
    u.op_input_id, u.kernel_name_id, u.operation
