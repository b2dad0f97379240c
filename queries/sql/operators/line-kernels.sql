-- line-kernels v1: Kernels, copies and fills by the line of code that launched them; the rows of all lines and kernels add up to all device
--     work of the capture. Warm-up counts too: passes are not told apart yet.
-- grain: one function, and one kernel name or operation launched in it or by its backward pass
-- key: line, function, path, kind, kernel, is_backward
-- notes: stack warm
-- params:
--   run VARCHAR: the run
--   line VARCHAR = NULL: only lines that match one of these globs, separated by commas, as file:line or followed by a blank and the
--     function
--   kernel VARCHAR = NULL: only kernels that match one of these globs, separated by commas
--   by VARCHAR = 'own': count work for the innermost function that is the user's own code (own), or for the innermost one with a file,
--     whoever wrote it (any)
--   stage VARCHAR = NULL: only work launched in this stage; (none) for work outside every stage
--   device BIGINT = NULL: only this GPU
--   top BIGINT = 20: maximum rows; 0 for all
--   source VARCHAR = NULL: only this kind of capture: {timelines}; default: the first of these that has Python stacks
-- columns:
--   rank: rank by total time
--   line: file:line as in hot-lines; (no file), (no stack) and (not recorded) likewise
--   function: name of the function; NULL in these three
--   code: own (the user's) or library, as in hot-lines; NULL in these three
--   kernel: demangled kernel name, or operation of a copy or fill
--   kind: kernel, memcpy, memset, or graph for a graph traced as a whole
--   is_backward: whether autograd launched it, in the backward pass of an operator called in the function
--   calls: executions
--   total_ns: sum of the durations
--   share_ratio: total_ns as a share of all device work, in the selected stage and on the selected GPU
--   mean_ns: mean duration
--   min_ns: shortest duration
--   max_ns: longest duration
--   inside: library function or built-in that launched most of it; NULL when the function itself did
--   path: file as recorded

WITH w AS (
    SELECT
        CASE WHEN c.at_id IS NOT NULL THEN l.line ELSE _no_line(x.stack_id) END AS line,
        l.function,
        c.code,
        coalesce(n.name, x.operation) AS kernel,
        CASE
            WHEN n.name IS NOT NULL THEN 'kernel'
            WHEN starts_with(lower(x.operation), 'memset') THEN 'memset'
            WHEN x.operation = 'graph replay' THEN 'graph'
            ELSE 'memcpy'
        END AS kind,
        x.is_backward,
        c.inside,
        l.path,
        x.call_count,
        x.total_ns,
        x.min_ns,
        x.max_ns
    FROM stack_work x
    LEFT JOIN _stack_cut(run, "by" := "by") c ON c.stack_id = x.stack_id
    LEFT JOIN stack_line l ON l.run_id = run AND l.stack_id = c.at_id
    LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = x.kernel_name_id
    WHERE x.run_id = run
        AND x.source_id IN (SELECT a.source_id FROM _stack_source(run, source := source) a)
        AND (stage IS NULL OR x.stage = stage)
        AND (device IS NULL OR x.device_id = device)
), part AS (
    SELECT
        w.line,
        w.function,
        w.code,
        w.kernel,
        w.kind,
        w.is_backward,
        w.inside,
        w.path,
        sum(w.call_count)::BIGINT AS calls,
        sum(w.total_ns)::BIGINT AS total_ns,
        min(w.min_ns) AS min_ns,
        max(w.max_ns) AS max_ns
    FROM w
    WHERE _fits(w.kernel, kernel) AND (_fits(w.line, line) OR _fits(w.line || ' ' || w.function, line))
    GROUP BY ALL
)
SELECT
    row_number() OVER (
        ORDER BY sum(p.total_ns) DESC, p.line, p.function, p.path, p.kind, p.kernel, p.is_backward
    ) AS rank,
    p.line,
    p.function,
    p.code,
    p.kernel,
    p.kind,
    p.is_backward,
    sum(p.calls)::BIGINT AS calls,
    sum(p.total_ns)::BIGINT AS total_ns,
    sum(p.total_ns) / nullif((SELECT sum(a.total_ns) FROM w a), 0) AS share_ratio,
    sum(p.total_ns) / sum(p.calls) AS mean_ns,
    min(p.min_ns) AS min_ns,
    max(p.max_ns) AS max_ns,
    arg_max({'inside': p.inside}, (p.total_ns, p.inside IS NULL, p.inside)).inside AS inside,
    p.path -- in a struct, since arg_max passes over NULL
FROM part p
GROUP BY p.line, p.function, p.code, p.kernel, p.kind, p.is_backward, p.path
QUALIFY top = 0 OR rank <= top
ORDER BY rank
