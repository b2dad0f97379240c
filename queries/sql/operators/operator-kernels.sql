-- operator-kernels v2: Kernels, copies and fills by the operator that launched them. By self and by outermost the rows add up to all device
--     work of the capture; by total they do not, since operators nest.
-- grain: one operator and kernel name or operation
-- key: operator, kind, kernel
-- notes: operators operator-calls launch
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: only operators that match one of these globs, separated by commas
--   by VARCHAR = NULL: attribute work to self (the innermost operator around the launch), outermost, or total (every operator around it);
--     default: total for selected operators, else self
--   stage VARCHAR = NULL: only work launched in this stage; (none) for work outside every stage
--   top BIGINT = 0: maximum rows per operator; 0 for all
--   {operator source}
-- columns:
--   operator: operator name; (graph replay) for CUDA graph replays without a known operator, (none) for other work launched outside every
--     operator, (no launch) when the launch was not captured
--   kernel: demangled kernel name, or operation of a copy or fill
--   kind: kernel, memcpy, memset, or graph for a graph traced as a whole
--   calls: executions
--   total_ns: sum of the durations
--   mean_ns: mean duration
--   min_ns: shortest duration
--   max_ns: longest duration
--   share_ratio: total_ns as a share of all rows of the operator, before top applies
--   role: what kernels of the family do; NULL when no rule matches
--   family: kernel family by kernel_rule; NULL when no rule matches

WITH work AS (
    SELECT
        CASE coalesce("by", CASE WHEN operator IS NULL THEN 'self' ELSE 'total' END)
            WHEN 'self' THEN [w.op_name_id]
            WHEN 'outermost' THEN [w.outermost_op_name_id]
            WHEN 'total' THEN coalesce(list_distinct(c.op_name_ids), [w.op_name_id]) -- an operator around itself counts work once
            ELSE error('ARGUMENT: --by is self, outermost or total')::BIGINT[]
        END AS owners,
        w.outside,
        w.kernel_name_id,
        w.operation,
        w.call_count AS calls,
        w.total_ns,
        w.min_ns,
        w.max_ns
    FROM op_work w LEFT JOIN op_chain c ON c.run_id = run AND c.chain_id = w.chain_id
    WHERE w.run_id = run
        AND (stage IS NULL OR w.stage = stage)
        AND w.source_id IN (
            SELECT c.source_id
            FROM _operator_source(run, source := source) c
            WHERE c.capture <> 'key_averages'
        )
), owned AS (
    SELECT
        unnest(w.owners) AS op_name_id,
        w.outside,
        w.kernel_name_id,
        w.operation,
        w.calls,
        w.total_ns,
        w.min_ns,
        w.max_ns
    FROM work w
), t AS (
    SELECT
        coalesce(o.outside, any_value(n.name)) AS operator,
        o.kernel_name_id,
        o.operation,
        sum(o.calls)::BIGINT AS calls,
        sum(o.total_ns)::BIGINT AS total_ns,
        min(o.min_ns) AS min_ns,
        max(o.max_ns) AS max_ns
    FROM owned o LEFT JOIN op_name n ON n.run_id = run AND n.op_name_id = o.op_name_id
    WHERE _fits(coalesce(o.outside, n.name), operator)
    GROUP BY o.op_name_id, o.outside, o.kernel_name_id, o.operation
), q AS (
    SELECT
        t.operator,
        coalesce(n.name, t.operation) AS kernel,
        CASE
            WHEN n.name IS NOT NULL THEN 'kernel'
            WHEN starts_with(lower(t.operation), 'memset') THEN 'memset'
            WHEN t.operation = 'graph replay' THEN 'graph'
            ELSE 'memcpy'
        END AS kind,
        t.calls,
        t.total_ns,
        t.min_ns,
        t.max_ns,
        c.role,
        c.family,
        sum(t.total_ns) OVER (PARTITION BY t.operator) AS operator_ns,
        row_number() OVER (PARTITION BY t.operator ORDER BY t.total_ns DESC, kind, kernel) AS place
    FROM t
    LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = t.kernel_name_id
    LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = t.kernel_name_id
)
SELECT
    q.operator,
    q.kernel,
    q.kind,
    q.calls,
    q.total_ns,
    q.total_ns / q.calls AS mean_ns,
    q.min_ns,
    q.max_ns,
    q.total_ns / nullif(q.operator_ns, 0) AS share_ratio,
    q.role,
    q.family
FROM q
WHERE top = 0 OR q.place <= top
ORDER BY q.operator_ns DESC, q.operator, q.place
