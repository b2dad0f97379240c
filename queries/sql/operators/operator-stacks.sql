-- operator-stacks v2: Operators by the Python functions they were called in; the rows add up to the self times of all operators.
-- grain: one operator and its innermost functions
-- key: operator, functions
-- notes: operators operator-calls stack outside
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: only operators that fit one of these globs (commas between)
--   by VARCHAR = 'operator': what to add up: operator (an operator and the functions) or function (the functions alone)
--   frames BIGINT = 3: innermost functions to tell apart
--   with_torch BOOLEAN = false: count functions of PyTorch, built-in ones and those of Python's own loader among them too
--   stage VARCHAR = NULL: only operators called in this stage; (none) for those outside every stage
--   top BIGINT = 20: rows at most; 0 for all
--   source VARCHAR = NULL: operators of torch (traces) or nsys (emit_nvtx); by default the first of them that the run has
-- columns:
--   rank: place by self_device_ns, then self_cpu_ns
--   operator: name; NULL by function
--   functions: file(line): function or nn.Module, from the innermost outwards; (none) when none is known, as for operators that autograd's own thread called
--   calls: calls, as in top-operators
--   self_device_ns: time of the device work launched by it but not by operators inside it, and of graph replays the work captured in it
--   self_cpu_ns: time on the CPU less that in the operators and CUDA API calls inside it
--   share_ratio: self_device_ns as a share of all device work of the capture, in that stage; NULL when there is none

WITH RECURSIVE s AS (
    SELECT s.operator, s.stack_id, sum(s.call_count)::BIGINT AS calls, sum(s.self_device_ns)::BIGINT AS self_device_ns, sum(s.self_cpu_ns)::BIGINT AS self_cpu_ns
    FROM op_sum s
    WHERE s.run_id = run AND s.source_id IN (SELECT c.source_id FROM _operator_source(run, source := source) c WHERE c.capture <> 'key_averages')
        AND (stage IS NULL OR s.stage = stage) AND _fits(s.operator, operator)
    GROUP BY s.operator, s.stack_id
), w AS ( -- from the innermost function outwards
    SELECT DISTINCT s.stack_id, s.stack_id AS at_id, []::VARCHAR[] AS shown FROM s
    UNION ALL
    SELECT w.stack_id, p.parent_stack_id, CASE WHEN with_torch OR NOT regexp_matches(p.function, '^<|^torch/|site-packages/torch/') THEN list_append(w.shown, p.function) ELSE w.shown END
    FROM w JOIN python_stack p ON p.run_id = run AND p.stack_id = w.at_id
    WHERE frames < 1 OR len(w.shown) < frames
), t AS (
    SELECT CASE "by" WHEN 'operator' THEN s.operator WHEN 'function' THEN NULL ELSE error('ARGUMENT: --by is operator or function') END AS operator,
        coalesce(nullif(array_to_string(w.shown, ' < '), ''), '(none)') AS functions,
        sum(s.calls)::BIGINT AS calls, sum(s.self_device_ns)::BIGINT AS self_device_ns, sum(s.self_cpu_ns)::BIGINT AS self_cpu_ns
    FROM s LEFT JOIN w ON w.stack_id = s.stack_id AND (w.at_id IS NULL OR len(w.shown) = nullif(frames, 0))
    GROUP BY ALL
)
SELECT row_number() OVER (ORDER BY t.self_device_ns DESC, t.self_cpu_ns DESC, t.operator, t.functions) AS rank, t.operator, t.functions, t.calls, t.self_device_ns, t.self_cpu_ns,
    t.self_device_ns / nullif((SELECT sum(d.total_ns) FROM _operator_work(run, stage := stage, source := source) d), 0) AS share_ratio
FROM t
QUALIFY top = 0 OR rank <= top
ORDER BY rank
