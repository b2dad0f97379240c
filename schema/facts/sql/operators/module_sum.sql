-- module_sum: Times of nn.Modules and of their backward pass, from the Python stacks of traces. A graph replay counts with the modules that
--     captured it where these are known.
-- grain: one module path and stage, and all calls outside modules in that stage
-- key: module_path, stage
-- needs: python_call
-- columns:
--   module_path VARCHAR: module names from the outermost module to this one, joined by ' > '; NULL outside modules
--   stage VARCHAR: stage of the call, or of the forward operators behind backward_device_ns; (none) outside every stage
--   call_count BIGINT: forward calls; 0 when only functions or the backward pass are in the stage
--   self_device_ns BIGINT: device time of the work it launched itself, excluding modules inside it
--   total_device_ns BIGINT: device time including modules inside it; NULL when no device work was recorded
--   self_cpu_ns BIGINT: CPU time, excluding modules called inside it
--   total_cpu_ns BIGINT: CPU time
--   launched_ns BIGINT: device time of the work launched by its Python functions, excluding modules inside it
--   backward_device_ns BIGINT: device time of the backward pass of operators called by it but not by modules inside it, matched by
--     autograd's sequence numbers; NULL when there is none

WITH RECURSIVE replay AS ( -- work goes from the module that launched the replay to the one that captured it
    SELECT
        r.source_id,
        r.pid,
        r.tid,
        r.launch_start_ns,
        r.path_id,
        r.launched_stack_id AS launched_in,
        o.stack_id AS captured_in,
        r.duration_ns
    FROM _replayed r JOIN op o ON o.run_id = $run AND o.op_id = r.op_id AND o.stack_id > 0
    WHERE r.has_stack
), added AS (
    SELECT
        r.path_id,
        p.module_path,
        sum(r.duration_ns) AS time_ns
    FROM replay r JOIN python_stack p ON p.run_id = $run AND p.stack_id = r.captured_in
    GROUP BY r.path_id, p.module_path
), around AS (
    SELECT
        a.path_id,
        a.time_ns,
        string_split(a.module_path, ' > ') AS names,
        unnest(range(1, len(string_split(a.module_path, ' > ')) + 1)) AS depth
    FROM added a
    WHERE a.module_path IS NOT NULL
), launch AS (
    SELECT
        r.source_id,
        r.pid,
        r.tid,
        r.launch_start_ns,
        r.launched_in,
        sum(r.duration_ns) AS time_ns
    FROM replay r
    WHERE r.launched_in > 0
    GROUP BY r.source_id, r.pid, r.tid, r.launch_start_ns, r.launched_in
), up AS ( -- the functions around a launch, innermost first, and how many modules are inside each
    SELECT
        p.stack_id AS launched_in,
        p.stack_id,
        p.parent_stack_id,
        p.module_path,
        p.is_module,
        true AS is_innermost,
        0 AS inside_count
    FROM (SELECT DISTINCT l.launched_in FROM launch l) l
    JOIN python_stack p ON p.run_id = $run AND p.stack_id = l.launched_in
    UNION ALL
    SELECT
        u.launched_in,
        p.stack_id,
        p.parent_stack_id,
        p.module_path,
        p.is_module,
        false,
        u.inside_count + u.is_module::INTEGER
    FROM up u JOIN python_stack p ON p.run_id = $run AND p.stack_id = u.parent_stack_id
), open AS (
    SELECT
        l.source_id,
        l.pid,
        l.tid,
        l.launch_start_ns,
        l.time_ns,
        u.stack_id,
        u.module_path,
        u.is_module,
        u.is_innermost,
        u.inside_count
    FROM launch l JOIN up u ON u.launched_in = l.launched_in
    WHERE u.is_innermost OR u.is_module
), taken AS ( -- each call has what it launched in the stage that it was made in, which is not always that of the launch
    SELECT
        o.module_path,
        c.path_id,
        -sum(o.time_ns) FILTER (o.is_module AND o.inside_count = 0) AS self_ns,
        -sum(o.time_ns) FILTER (o.is_module) AS total_ns,
        -sum(o.time_ns) FILTER (o.is_innermost) AS launched_ns
    FROM open o
    ASOF JOIN (
        SELECT x.source_id, x.pid, x.tid, x.stack_id, x.start_ns, x.path_id
        FROM python_call x
        WHERE x.run_id = $run
    ) c
        ON c.source_id = o.source_id
        AND c.pid = o.pid
        AND c.tid = o.tid
        AND c.stack_id = o.stack_id
        AND c.start_ns <= o.launch_start_ns
    GROUP BY o.module_path, c.path_id
), part AS (
    SELECT
        p.module_path,
        c.path_id,
        count(*) FILTER (p.is_module) AS call_count,
        sum(c.module_device_ns) FILTER (p.is_module) AS self_device_ns,
        sum(c.total_device_ns) FILTER (p.is_module) AS total_device_ns,
        sum(c.module_cpu_ns) FILTER (p.is_module) AS self_cpu_ns,
        sum(c.duration_ns) FILTER (p.is_module) AS total_cpu_ns,
        sum(c.self_device_ns) AS launched_ns,
        NULL AS backward_device_ns
    FROM python_call c LEFT JOIN python_stack p ON p.run_id = $run AND p.stack_id = c.stack_id
    WHERE c.run_id = $run
    GROUP BY p.module_path, c.path_id
    UNION ALL
    SELECT
        a.module_path,
        a.path_id,
        0,
        CASE WHEN a.module_path IS NOT NULL THEN a.time_ns END,
        NULL,
        NULL,
        NULL,
        a.time_ns,
        NULL
    FROM added a
    UNION ALL
    SELECT
        array_to_string(a.names[1:a.depth], ' > '),
        a.path_id,
        0,
        NULL,
        a.time_ns,
        NULL,
        NULL,
        NULL,
        NULL
    FROM around a
    UNION ALL
    SELECT t.module_path, t.path_id, 0, t.self_ns, t.total_ns, NULL, NULL, t.launched_ns, NULL
    FROM taken t
    UNION ALL -- of the stage of the forward operator; one inside another that is known as backward too is part of that one
    SELECT
        p.module_path,
        f.path_id,
        0,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        sum(b.total_device_ns)
    FROM op b
    JOIN op f ON f.run_id = $run AND f.op_id = b.forward_op_id
    JOIN python_stack p ON p.run_id = $run AND p.stack_id = f.stack_id
    LEFT JOIN op around ON around.run_id = $run AND around.op_id = b.parent_op_id
    WHERE b.run_id = $run AND around.forward_op_id IS NULL AND p.module_path IS NOT NULL
    GROUP BY p.module_path, f.path_id
)
SELECT
    p.module_path,
    coalesce(s.stage, '(none)') AS stage,
    sum(p.call_count)::BIGINT AS call_count,
    sum(p.self_device_ns)::BIGINT AS self_device_ns,
    sum(p.total_device_ns)::BIGINT AS total_device_ns,
    sum(p.self_cpu_ns)::BIGINT AS self_cpu_ns,
    sum(p.total_cpu_ns)::BIGINT AS total_cpu_ns,
    sum(p.launched_ns)::BIGINT AS launched_ns,
    sum(p.backward_device_ns)::BIGINT AS backward_device_ns
FROM part p LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = p.path_id
GROUP BY p.module_path, coalesce(s.stage, '(none)')
