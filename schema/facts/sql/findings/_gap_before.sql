-- _gap_before: The family of work that idle time of a cause comes before, where one has more than half of it. Only the longest gaps are
--     known, so it may have more. Passes in which the thread waited for a CPU are left out: when it did is not known.
-- grain: one cause of idle time of one stage on one GPU, per timeline kind
-- key: kind, stage, device_id, cause
-- needs: device_time gap_part
-- columns:
--   kind VARCHAR: kind of the timeline
--   stage VARCHAR: the stage; NULL: all device work
--   device_id INTEGER: GPU
--   cause VARCHAR: the cause, as in finding_idle
--   family VARCHAR: family of the kernels that begin at the ends of the gaps, else short name of the kernel, copy, fill or graph replay
--   role VARCHAR: what kernels of the family do; NULL when unknown
--   library VARCHAR: whose they are; NULL when unknown
--   ns BIGINT: idle time of the cause before them, less what has a finding of its own
--   step_count BIGINT: steps with such gaps of the pass that has most of it; 0 where steps are not known
--   pass_step_count BIGINT: all its steps; 0 likewise

WITH spent AS (
    SELECT
        p.kind,
        p.stage,
        p.device_id,
        p.range_id,
        s.kind AS cause,
        coalesce(c.family, n.short_name, n.name, g.after_operation) AS family,
        c.role,
        c.library,
        g.range_context_id,
        sum(h.ns - CASE h.part
            WHEN 'host' THEN coalesce(y.host_ns, 0)
            WHEN 'launch-delay' THEN coalesce(y.launch_delay_ns, 0)
            WHEN 'call' THEN coalesce(y.allocate_ns + y.load_ns, 0)
            ELSE 0
        END)::BIGINT AS ns
    FROM gap g
    JOIN gap_part h ON h.run_id = $run AND h.source_id = g.source_id AND h.device_id = g.device_id AND h.start_ns = g.start_ns
    JOIN stage_part s ON s.part = h.part AND s.is_idle
    JOIN _finding_part p
        ON p.source_id = g.source_id AND p.device_id = g.device_id AND g.start_ns >= p.start_ns AND g.start_ns < p.end_ns
    LEFT JOIN _gap_pause y ON y.source_id = g.source_id AND y.device_id = g.device_id AND y.start_ns = g.start_ns
    LEFT JOIN kernel_name n ON n.run_id = $run AND n.kernel_name_id = g.after_kernel_name_id
    LEFT JOIN kernel_class c ON c.run_id = $run AND c.kernel_name_id = g.after_kernel_name_id
    WHERE g.run_id = $run AND p.starved_ns = 0
    GROUP BY ALL
), whole AS (
    SELECT
        s.kind,
        s.stage,
        s.device_id,
        s.cause,
        s.family,
        any_value(s.role) AS role,
        any_value(s.library) AS library,
        sum(s.ns)::BIGINT AS ns
    FROM spent s
    GROUP BY s.kind, s.stage, s.device_id, s.cause, s.family
), one AS (
    SELECT w.kind, w.stage, w.device_id, w.cause, w.family, w.role, w.library, w.ns
    FROM whole w
    JOIN finding_idle i
        ON i.run_id = $run
        AND i.kind = w.kind
        AND i.stage IS NOT DISTINCT FROM w.stage
        AND i.device_id = w.device_id
        AND i.cause = w.cause
    WHERE 2 * w.ns > i.idle_ns
), most AS ( -- the pass with most of it
    SELECT q.kind, q.stage, q.device_id, q.cause, q.family, arg_max(q.range_id, (q.ns, q.range_id)) AS range_id
    FROM (
        SELECT s.kind, s.stage, s.device_id, s.cause, s.family, s.range_id, sum(s.ns) AS ns
        FROM spent s
        WHERE s.range_id IS NOT NULL
        GROUP BY ALL
    ) q
    GROUP BY q.kind, q.stage, q.device_id, q.cause, q.family
), inside AS ( -- steps are ranges within the pass
    SELECT
        s.device_id,
        a.range_id AS pass_id,
        s.range_id
    FROM step s
    JOIN range_context c ON c.run_id = $run AND c.range_id = s.range_id
    JOIN range_context a ON a.run_id = $run AND a.range_context_id = c.range_context_id
    WHERE s.run_id = $run
        AND s.attribution = 'launch'
        AND a.range_id <> s.range_id
        AND a.range_id IN (SELECT m.range_id FROM most m)
    GROUP BY ALL
), steps AS (
    SELECT
        m.kind,
        m.stage,
        m.device_id,
        m.cause,
        m.family,
        count(DISTINCT i.range_id) FILTER (x.ns > 0) AS step_count,
        count(DISTINCT i.range_id) AS pass_step_count
    FROM most m
    JOIN inside i ON i.pass_id = m.range_id AND i.device_id = m.device_id
    LEFT JOIN range_context c ON c.run_id = $run AND c.range_id = i.range_id
    LEFT JOIN spent x
        ON x.range_context_id = c.range_context_id
        AND x.kind = m.kind
        AND x.stage IS NOT DISTINCT FROM m.stage
        AND x.device_id = m.device_id
        AND x.cause = m.cause
        AND x.family = m.family
        AND x.range_id = m.range_id
    GROUP BY m.kind, m.stage, m.device_id, m.cause, m.family
)
SELECT
    o.kind,
    o.stage,
    o.device_id,
    o.cause,
    o.family,
    o.role,
    o.library,
    o.ns,
    coalesce(s.step_count, 0) AS step_count,
    coalesce(s.pass_step_count, 0) AS pass_step_count
FROM one o
LEFT JOIN steps s
    ON s.kind = o.kind
    AND s.stage IS NOT DISTINCT FROM o.stage
    AND s.device_id = o.device_id
    AND s.cause = o.cause
    AND s.family = o.family
