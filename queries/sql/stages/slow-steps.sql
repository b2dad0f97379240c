-- slow-steps v1: Steps slower than the median of their kind, with the part of their time and the kernel that grew most.
-- grain: one step on one GPU
-- key: rank
-- notes: step timelines workload launch range
-- params:
--   run VARCHAR: the run
--   top BIGINT = 10: maximum rows; 0 for all
--   stage VARCHAR = NULL: only this stage; (none) for steps outside every stage
--   device BIGINT = NULL: only work on this GPU, and only steps with work on it
--   by VARCHAR = NULL: assign work to steps by launch (launched by the step's thread during it) or time (run during the step, other
--     threads' work included; for steps outside stages); default: time for ProfilerStep#, and for other ranges of one thread in which other
--     threads launch work
--   {source}
-- columns:
--   rank: rank by excess_ns
--   nth: step number within the stage, source, process and GPU, as in steps, from 1
--   time_ns: time of the step, by time_basis
--   excess_ns: time_ns less median_ns
--   cause: part of the time with the largest excess over its median: kernel, graph, copy, other, {{range .Causes}}{{.Name}}, {{end}}between
--     (after its last device work, before the next step). By time, busy instead of kernel, graph and copy, and idle where its causes are
--     unknown. NULL when no part is known to have grown
--   cause_ns: excess of that part over its median
--   stage: stage, by stage_rule; (none) outside every stage
--   kernel_excess_ns: excess of that kernel's time over its median, all launches in the step together
--   kernel: kernel with the largest excess over its median time per step, counting 0 for steps without it; NULL when none grew
--   median_ns: median time of the steps of its kind, warm-up excluded
--   name: normalised range name; for periodic steps, the kernel that begins each step, or graph replay
--   device: GPU; NULL for a step without device work
--   time_basis: definition of time_ns: gpu_period, gpu_span or cpu
--   start_ns: start of its first device work, from the start of the source; of the range when it has none
--   basis: how the step was found: range or period
--   source_id: the source
--   pid: process
--   range_id: the range; NULL for periodic steps

-- Long: the part and the kernel that grew are looked for apart, only of steps that are slow.
WITH s AS MATERIALIZED (
    SELECT
        row_number() OVER (ORDER BY s.source_id, s.start_ns, s.device_id, s.pid, s.range_id, s.stage) AS id,
        rank() OVER (ORDER BY s.source_id, s.pid, s.device_id, s.stage, s.name_path_id, s.kernel_name_id) AS kind,
        count(*) OVER k AS n,
        median(s.time_ns) OVER k AS median_ns,
        s.nth,
        s.basis,
        s.source_id,
        s.pid,
        s.device_id,
        s.range_id,
        s.stage,
        s.name_path_id,
        s.kernel_name_id,
        s.start_ns,
        s.until_ns,
        s.time_ns,
        s.time_basis,
        s.attribution,
        CASE
            WHEN s.unknown_ns IS NULL THEN [s.busy_ns, s.idle_ns]
            ELSE CASE s.attribution WHEN 'time' THEN [s.busy_ns] ELSE [s.kernel_ns, s.graph_ns, s.copy_ns] END
                || [s.other_ns{{range .Causes}}, s.{{.Column}}{{end}}]
        END
            || CASE s.time_basis WHEN 'gpu_period' THEN [s.between_ns] ELSE [] END AS parts,
        CASE
            WHEN s.unknown_ns IS NULL THEN ['busy', 'idle', 'between']
            ELSE CASE s.attribution WHEN 'time' THEN ['busy'] ELSE ['kernel', 'graph', 'copy'] END
                || ['other'{{range .Causes}}, {{quote .Name}}{{end}}, 'between']
        END AS causes
    FROM step s
    WHERE s.run_id = run
        AND s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR s.device_id = device)
        AND (stage IS NULL OR s.stage = stage)
        AND s.time_ns IS NOT NULL
        AND NOT s.is_warmup
        AND _is_by("by", s.attribution, s.is_default)
    WINDOW k AS (PARTITION BY s.source_id, s.pid, s.device_id, s.stage, s.name_path_id, s.kernel_name_id)
), slow AS MATERIALIZED (
    SELECT
        s.id,
        s.kind,
        row_number() OVER (ORDER BY s.time_ns - s.median_ns DESC, s.id) AS rank
    FROM s
    WHERE s.time_ns > s.median_ns
    QUALIFY top = 0 OR rank <= top
), near AS ( -- slow ones and those that they are compared with
    SELECT
        s.id,
        s.kind,
        s.n,
        s.attribution,
        s.source_id,
        s.pid,
        s.device_id,
        s.range_id,
        s.start_ns,
        s.until_ns,
        s.parts,
        s.causes
    FROM s
    WHERE s.kind IN (SELECT w.kind FROM slow w)
), cause AS (
    SELECT
        p.id,
        max(p.ns) AS ns,
        arg_max(p.cause, (p.ns, -p.place)) AS cause
    FROM (
        SELECT
            p.id,
            p.cause,
            p.place,
            p.ns - median(p.ns) OVER (PARTITION BY p.kind, p.cause) AS ns
        FROM (
            SELECT
                n.id,
                n.kind,
                unnest(n.parts) AS ns,
                unnest(n.causes[1:len(n.parts)]) AS cause,
                generate_subscripts(n.parts, 1) AS place
            FROM near n
        ) p
    ) p
    WHERE p.ns > 0
    GROUP BY p.id
), ran AS (
    SELECT
        n.id,
        any_value(n.kind) AS kind,
        any_value(n.n) AS n,
        k.kernel_name_id,
        sum(k.duration_ns)::BIGINT AS ns
    FROM kernel k
    JOIN range_context c ON c.run_id = k.run_id AND c.range_context_id = k.range_context_id
    JOIN near n ON n.range_id = c.range_id AND n.device_id = k.device_id
    WHERE k.run_id = run AND n.attribution = 'launch'
    GROUP BY n.id, k.kernel_name_id
    UNION ALL
    SELECT
        n.id,
        any_value(n.kind),
        any_value(n.n),
        k.kernel_name_id,
        sum(k.duration_ns)::BIGINT
    FROM (
        SELECT
            k.source_id,
            coalesce(k.pid, -1) AS pid,
            k.device_id,
            k.start_ns,
            k.duration_ns,
            k.kernel_name_id
        FROM kernel k
        WHERE k.run_id = run AND k.source_id IN (SELECT n.source_id FROM near n WHERE n.attribution = 'time')
    ) k
    ASOF JOIN (
        SELECT
            n.id,
            n.kind,
            n.n,
            n.source_id,
            coalesce(n.pid, -1) AS pid,
            n.device_id,
            n.start_ns,
            n.until_ns
        FROM near n
        WHERE n.attribution = 'time'
    ) n ON n.source_id = k.source_id AND n.pid = k.pid AND n.device_id = k.device_id AND n.start_ns <= k.start_ns
    WHERE k.start_ns < n.until_ns
    GROUP BY n.id, k.kernel_name_id
), typical AS ( -- a step without the kernel has 0 of it
    SELECT
        r.kind,
        r.kernel_name_id,
        list_median(list_resize(list(r.ns), any_value(r.n), 0)) AS ns
    FROM ran r
    GROUP BY r.kind, r.kernel_name_id
), grown AS (
    SELECT
        r.id,
        max(r.ns - t.ns) AS ns,
        arg_min(n.name, (t.ns - r.ns, n.name_hash)) AS kernel
    FROM ran r
    JOIN typical t ON t.kind = r.kind AND t.kernel_name_id = r.kernel_name_id
    JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = r.kernel_name_id
    WHERE r.ns > t.ns
    GROUP BY r.id
)
SELECT
    w.rank,
    s.nth,
    s.time_ns,
    s.time_ns - s.median_ns AS excess_ns,
    c.cause,
    c.ns AS cause_ns,
    s.stage,
    g.ns AS kernel_excess_ns,
    g.kernel,
    s.median_ns,
    coalesce(p.name, b.name, 'graph replay') AS name,
    s.device_id AS device,
    s.time_basis,
    s.start_ns,
    s.basis,
    s.source_id,
    s.pid,
    s.range_id
FROM slow w
JOIN s ON s.id = w.id
LEFT JOIN range_path p ON p.run_id = run AND p.path_id = s.name_path_id
LEFT JOIN kernel_name b ON b.run_id = run AND b.kernel_name_id = s.kernel_name_id
LEFT JOIN cause c ON c.id = w.id
LEFT JOIN grown g ON g.id = w.id
ORDER BY w.rank
