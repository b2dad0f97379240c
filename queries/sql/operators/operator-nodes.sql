-- operator-nodes v1: Device work by module, chain of operators, inputs and kernel, in the order of the program: what prof diff --by tree
--     aligns. The rows add up to all device work of the capture.
-- grain: one kernel name or operation launched by operators of the same names and inputs in a module, or outside all operators, in the
--     passes or steps of a stage
-- key: stage, unit, step, is_warmup, module, operators, shapes, types, kernel, kind
-- notes: operators operator-calls stack module
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only passes of this stage; (none) for work outside every pass
--   {operator source}
--   with_units BOOLEAN = false: show what it takes in each pass or step
-- columns:
--   stage: stage of the pass; (none) outside every pass, and without passes
--   unit: what its time is divided by: pass, or step in captures without passes, or run
--   step: name of the step; NULL for other units
--   is_warmup: whether the passes or steps are warm-up
--   module: names of the nn.Modules around the operator, outermost first, joined by ' > '; NULL outside modules, without stacks, and for
--     graph replays that captures in several modules fit
--   operators: names of the operators, outermost first, joined by ' > '; outside operators as in operator-kernels
--   shapes: sizes of each input tensor of the innermost operator, as JSON; NULL when not recorded, and for graph replays that captures with
--     several inputs fit
--   types: type of each input, as JSON; NULL as shapes
--   kernel: demangled kernel name, or operation of a copy or fill
--   kind: kernel, memcpy, memset, or graph for a graph traced as a whole
--   calls: calls of the innermost operator of which this was the first work on the device: over kernels they add up to its calls; replays
--     of captured nodes are no calls
--   work_count: executions
--   total_ns: sum of the durations
--   first_ns: when the program first came here, from the start of the capture
--   unit_count: passes of the stage, or steps of the name, that are not warm-up, of all repeats; 1 for a run
--   units [with_units]: in which passes or steps it takes how long: lists [repeat, pass or step as in stage-samples and steps, ns] as JSON.
--     Ranks take part in the same pass or step

WITH s AS (
    SELECT c.source_id
    FROM _operator_source(run, source := source) c
    WHERE c.capture <> 'key_averages'
), pass AS (
    SELECT
        p.stage,
        count(DISTINCT (p.repeat_id, p.pass_id)) AS unit_count
    FROM stage_pass p JOIN s ON s.source_id = p.source_id
    WHERE p.run_id = run AND NOT p.is_warmup
    GROUP BY p.stage
), repeated AS (
    SELECT DISTINCT w.source_id, w.repeat_id
    FROM work_sum w
    WHERE w.run_id = run
), stepped AS (
    SELECT
        q.name_path_id,
        count(DISTINCT (q.repeat_id, q.nth)) AS unit_count
    FROM (
        SELECT
            x.range_id,
            x.name_path_id,
            r.repeat_id,
            min(x.nth) AS nth
        FROM step x
        JOIN s ON s.source_id = x.source_id
        LEFT JOIN repeated r ON r.source_id = x.source_id
        WHERE x.run_id = run AND x.basis = 'range' AND x.attribution = 'launch'
        GROUP BY x.range_id, x.name_path_id, r.repeat_id
        HAVING NOT bool_or(x.is_warmup)
    ) q
    GROUP BY q.name_path_id
), part AS (
    SELECT
        w.stage,
        w.unit,
        w.name_path_id,
        w.is_warmup,
        w.module_path,
        w.op_name_ids,
        w.outside,
        w.op_input_id,
        w.kernel_name_id,
        w.operation,
        w.op_count,
        w.work_count,
        w.total_ns,
        w.first_ns,
        CASE
            WHEN with_units THEN list_transform(w.unit_ids, lambda id, i: [coalesce(r.repeat_id, 1), id, w.unit_ns[i]])
        END AS units,
        unnest(coalesce(w.op_name_ids, [0])) AS op_name_id,
        generate_subscripts(coalesce(w.op_name_ids, [0]), 1) AS place,
        row_number() OVER () AS nth
    FROM op_node w
    JOIN s ON s.source_id = w.source_id
    LEFT JOIN repeated r ON r.source_id = w.source_id
    WHERE w.run_id = run AND (stage IS NULL OR w.stage = stage)
), named AS (
    SELECT
        any_value(p.stage) AS stage,
        any_value(p.unit) AS unit,
        any_value(p.name_path_id) AS name_path_id,
        bool_or(p.is_warmup) AS is_warmup,
        any_value(p.module_path) AS module,
        coalesce(any_value(p.outside), string_agg(n.name, ' > ' ORDER BY p.place)) AS operators,
        any_value(p.op_input_id) AS op_input_id,
        any_value(p.kernel_name_id) AS kernel_name_id,
        any_value(p.operation) AS operation,
        any_value(p.op_count) AS op_count,
        any_value(p.work_count) AS work_count,
        any_value(p.total_ns) AS total_ns,
        any_value(p.first_ns) AS first_ns,
        any_value(p.units) AS units
    FROM part p LEFT JOIN op_name n ON n.run_id = run AND n.op_name_id = p.op_name_id
    GROUP BY p.nth
)
SELECT
    t.stage,
    t.unit,
    h.name AS step,
    t.is_warmup,
    t.module,
    t.operators,
    i.shapes,
    i.types,
    coalesce(k.name, t.operation) AS kernel,
    CASE
        WHEN k.name IS NOT NULL THEN 'kernel'
        WHEN starts_with(lower(t.operation), 'memset') THEN 'memset'
        WHEN t.operation = 'graph replay' THEN 'graph'
        ELSE 'memcpy'
    END AS kind,
    sum(t.op_count)::BIGINT AS calls,
    sum(t.work_count)::BIGINT AS work_count,
    sum(t.total_ns)::BIGINT AS total_ns,
    min(t.first_ns) AS first_ns,
    CASE t.unit
        WHEN 'pass' THEN coalesce(any_value(p.unit_count), 0)
        WHEN 'step' THEN coalesce(any_value(x.unit_count), 0)
        ELSE 1
    END AS unit_count,
    CASE WHEN with_units THEN to_json(flatten(list(t.units ORDER BY t.units)))::VARCHAR END AS units
FROM named t
LEFT JOIN op_input i ON i.run_id = run AND i.op_input_id = t.op_input_id
LEFT JOIN kernel_name k ON k.run_id = run AND k.kernel_name_id = t.kernel_name_id
LEFT JOIN pass p ON p.stage = t.stage
LEFT JOIN stepped x ON x.name_path_id = t.name_path_id
LEFT JOIN range_path h ON h.run_id = run AND h.path_id = t.name_path_id
GROUP BY t.stage, t.unit, h.name, t.is_warmup, t.module, t.operators, i.shapes, i.types, k.name, t.operation
ORDER BY t.stage, t.unit, t.is_warmup, first_ns, t.module, t.operators, i.shapes, i.types, kernel, kind, step
