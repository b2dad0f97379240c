-- operator-stacks v2: Operators by the Python functions that called them; the rows add up to the self times of all operators.
-- grain: one operator and its innermost functions
-- key: operator, functions
-- notes: operators operator-calls stack outside
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: only operators that match one of these globs, separated by commas
--   by VARCHAR = 'operator': group by operator (an operator and its functions) or function (functions only)
--   frames BIGINT = 3: innermost functions to group by
--   with_torch BOOLEAN = false: include functions of PyTorch, built-in functions and those of Python's loader
--   stage VARCHAR = NULL: only operators called in this stage; (none) for calls outside every stage
--   top BIGINT = 20: maximum rows; 0 for all
--   {operator source}
-- columns:
--   rank: rank by self_device_ns, then self_cpu_ns
--   operator: operator name; NULL by function
--   functions: file(line): function or nn.Module, innermost first; (none) when unknown, as for operators called by autograd's own thread
--   calls: calls, as in top-operators
--   self_device_ns: device time of the work it launched itself, excluding operators inside it; graph replays count the work captured in it
--   self_cpu_ns: CPU time, excluding the operators and CUDA API calls inside it
--   share_ratio: self_device_ns as a share of all device work of the capture, in the selected stage; NULL without device work

WITH RECURSIVE s AS (
    SELECT
        any_value(n.name) AS operator,
        s.stack_id,
        sum(s.call_count)::BIGINT AS calls,
        sum(s.self_device_ns)::BIGINT AS self_device_ns,
        sum(s.self_cpu_ns)::BIGINT AS self_cpu_ns
    FROM op_sum s JOIN op_name n ON n.run_id = run AND n.op_name_id = s.op_name_id
    WHERE s.run_id = run
        AND s.source_id IN (
            SELECT c.source_id
            FROM _operator_source(run, source := source) c
            WHERE c.capture <> 'key_averages'
        )
        AND (stage IS NULL OR s.stage = stage)
        AND _fits(n.name, operator)
    GROUP BY s.op_name_id, s.stack_id
), w AS ( -- from the innermost function outwards
    SELECT DISTINCT
        s.stack_id,
        s.stack_id AS at_id,
        []::VARCHAR[] AS shown
    FROM s
    UNION ALL
    SELECT
        w.stack_id,
        p.parent_stack_id,
        CASE
            WHEN with_torch OR NOT regexp_matches(p.function, '^<|^torch/|site-packages/torch/')
                THEN list_append(w.shown, p.function)
            ELSE w.shown
        END
    FROM w JOIN python_stack p ON p.run_id = run AND p.stack_id = w.at_id
    WHERE frames < 1 OR len(w.shown) < frames
), t AS (
    SELECT
        CASE "by"
            WHEN 'operator' THEN s.operator
            WHEN 'function' THEN NULL
            ELSE error('ARGUMENT: --by is operator or function')
        END AS operator,
        coalesce(nullif(array_to_string(w.shown, ' < '), ''), '(none)') AS functions,
        sum(s.calls)::BIGINT AS calls,
        sum(s.self_device_ns)::BIGINT AS self_device_ns,
        sum(s.self_cpu_ns)::BIGINT AS self_cpu_ns
    FROM s
    LEFT JOIN w ON w.stack_id = s.stack_id AND (w.at_id IS NULL OR len(w.shown) = nullif(frames, 0))
    GROUP BY ALL
)
SELECT
    row_number() OVER (ORDER BY t.self_device_ns DESC, t.self_cpu_ns DESC, t.operator, t.functions) AS rank,
    t.operator,
    t.functions,
    t.calls,
    t.self_device_ns,
    t.self_cpu_ns,
    t.self_device_ns
        / nullif(
            (SELECT sum(d.total_ns) FROM _operator_work(run, stage := stage, source := source) d),
            0
        ) AS share_ratio
FROM t
QUALIFY top = 0 OR rank <= top
ORDER BY rank
