-- longest-gaps v6: The longest idle gaps of each GPU: where the work after was launched, and what its thread did meanwhile, in any process.
-- grain: one idle gap
-- key: source_id, device, start_ns
-- notes: timelines accounting launch sampled left-longest
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all: the 10,000 longest gaps of each GPU of a source are stored
--   stage VARCHAR = NULL: only gaps before work of this stage; (none) for gaps before work outside every stage or without a captured launch
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside passes
--   cause VARCHAR = NULL: only gaps with this as the largest part, as in the column cause; launch-bound for launch, launch-delay and
--     launch-latency
--   place VARCHAR = NULL: only gaps in-pass, between-passes or outside
--   {source}
-- columns:
--   rank: rank by length
--   duration_ns: from the end of the work before to the start of the work after
--   start_ns: end of the work before, from the start of the source
--   cause: largest part of the gap time, as in accounting: {idle parts}
--   host_range: innermost range of the thread that launched the work after, when the gap began, as recorded; NULL outside every range, or
--     when the launch was not captured
--   operator: innermost operator open on that thread for at least half of the gap; NULL when there was none or it was not recorded
--   line: line of code, file:line function: innermost function of the user's own that was open on that thread for at least half of the gap,
--     else the one that it was in at more than half of its samples within the gap, else the one that launched the work after, as in
--     hot-lines; NULL when Python stacks were not recorded or none is the user's
--   line_by: what the line is known by: open, sample or launch, in this order; NULL without a line
--   samples: samples of Python on that thread within the gap; NULL when Python was not sampled
--   os_call: operating system function that the thread was in for at least half of the gap, its calls together; NULL when there was none or
--     it was not recorded or stored
--   os_call_sum_ns: time of these calls within the gap; NULL without os_call
--   before: work that ended last before the gap: kernel, copy, fill or graph replay
--   after: work that started at its end: kernel, copy, fill or graph replay
--   stage: stage that launched the work after; (none) outside every stage, or when its launch was not captured: pid is NULL then
--   place: in-pass; between-passes: from the last work of one to the first of the next, of the same stage; or outside, such as before the
--     first pass of a stage
--   range: normalised names of the ranges that launched the work after, outermost first; NULL outside every range, or when the launch was
--     not captured
--   device: GPU
{{- range .Idle}}
--   {{.Column}}: idle, {{.Meaning}}
{{- end}}
--   source_id: the source
--   pid: process that launched the work after; NULL when the launch was not captured
--   tid: thread that launched it

WITH g AS ( -- those shown; all that follows is only of these
    SELECT
        row_number() OVER (ORDER BY g.duration_ns DESC, g.source_id, g.device_id, g.start_ns) AS rank,
        g.source_id,
        g.device_id,
        g.start_ns,
        g.start_ns + g.duration_ns AS end_ns,
        g.duration_ns,
        g.pid,
        g.tid,
        g.stage,
        g.place,
        g.path_id,
        g.before_kernel_name_id,
        g.before_operation,
        g.after_kernel_name_id,
        g.after_operation,
        g.part
    FROM _long_gap(run, stage := stage, device := device, warmup := warmup, source := source) g
    WHERE NOT g.is_left AND _is_gap_asked(g.part, g.place, cause, place)
    QUALIFY top = 0 OR rank <= top
), part AS (
    SELECT
        g.rank{{range .Idle}},
        coalesce(sum(p.ns) FILTER (p.part = {{quote .Name}}), 0)::BIGINT AS {{.Column}}{{end}}
    FROM g
    JOIN gap_part p
        ON p.run_id = run AND p.source_id = g.source_id AND p.device_id = g.device_id AND p.start_ns = g.start_ns
    GROUP BY g.rank
), host AS (
    SELECT
        g.rank,
        arg_max(n.name, (n.start_ns, n.range_id)) AS name
    FROM g
    JOIN nvtx_range n
        ON n.run_id = run
        AND n.source_id = g.source_id
        AND n.pid = g.pid
        AND (n.tid = g.tid OR n.style = 'start_end')
        AND n.start_ns <= g.start_ns
        AND (n.duration_ns IS NULL OR n.start_ns + n.duration_ns > g.start_ns)
    GROUP BY g.rank
), spent AS (
    SELECT
        g.rank,
        g.duration_ns,
        o.op_name_id,
        o.depth,
        o.op_id,
        least(o.start_ns + o.duration_ns, g.end_ns) - greatest(o.start_ns, g.start_ns) AS inside_ns
    FROM g
    JOIN op o
        ON o.run_id = run
        AND o.source_id = g.source_id
        AND o.pid = g.pid
        AND o.tid = g.tid
        AND o.start_ns < g.end_ns
        AND o.start_ns + o.duration_ns > g.start_ns
), best AS (
    SELECT
        s.rank,
        arg_max(s.op_name_id, (s.depth, s.inside_ns, -s.op_id)) AS op_name_id
    FROM spent s
    WHERE 2 * s.inside_ns >= s.duration_ns
    GROUP BY s.rank
), os AS ( -- what has less of a gap does not explain it: among 121 gaps of a capture with OS calls in them, 13 have half or more
    SELECT
        g.rank,
        o.api_name_id,
        sum(least(o.start_ns + o.duration_ns, g.end_ns) - greatest(o.start_ns, g.start_ns))::BIGINT AS inside_ns
    FROM g
    JOIN osrt_call o
        ON o.run_id = run
        AND o.source_id = g.source_id
        AND o.pid = g.pid
        AND o.tid = g.tid
        AND o.start_ns < g.end_ns
        AND o.start_ns + o.duration_ns > g.start_ns
    GROUP BY g.rank, g.duration_ns, o.api_name_id
    HAVING 2 * inside_ns >= g.duration_ns
    QUALIFY row_number() OVER (PARTITION BY g.rank ORDER BY inside_ns DESC, o.api_name_id) = 1
)
SELECT
    g.rank,
    g.duration_ns,
    g.start_ns,
    g.part AS cause,
    host.name AS host_range,
    p.name AS operator,
    w.line || ' ' || w.function AS line,
    CASE WHEN w.line IS NOT NULL THEN x.found_by END AS line_by,
    x.sample_count AS samples,
    c.name AS os_call,
    os.inside_ns AS os_call_sum_ns,
    coalesce(b.name, g.before_operation) AS before,
    coalesce(a.name, g.after_operation) AS after,
    g.stage,
    g.place,
    r.path AS range,
    g.device_id AS device,
    {{range .Idle}}t.{{.Column}},
    {{end}}g.source_id,
    g.pid,
    g.tid
FROM g
JOIN part t ON t.rank = g.rank
LEFT JOIN host ON host.rank = g.rank
LEFT JOIN best ON best.rank = g.rank
LEFT JOIN op_name p ON p.run_id = run AND p.op_name_id = best.op_name_id
LEFT JOIN gap_stack x
    ON x.run_id = run AND x.source_id = g.source_id AND x.device_id = g.device_id AND x.start_ns = g.start_ns
LEFT JOIN stack_line y ON y.run_id = run AND y.stack_id = x.stack_id
LEFT JOIN stack_line w ON w.run_id = run AND w.stack_id = y.own_stack_id
LEFT JOIN os ON os.rank = g.rank
LEFT JOIN api_name c ON c.run_id = run AND c.api_name_id = os.api_name_id
LEFT JOIN range_path r ON r.run_id = run AND r.path_id = g.path_id
LEFT JOIN kernel_name b ON b.run_id = run AND b.kernel_name_id = g.before_kernel_name_id
LEFT JOIN kernel_name a ON a.run_id = run AND a.kernel_name_id = g.after_kernel_name_id
ORDER BY g.rank
