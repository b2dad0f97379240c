-- _critical_window: The steps whose critical path is looked for: of each kind of stage pass and of step the one of median length and the
--     slowest, warm-up excluded. The kinds that took longest come first.
-- grain: one stage pass or step
-- key: step_id
-- needs: stage_pass|step
-- columns:
--   step_id BIGINT: 1, 2, ... within the run, by what its kind took in all
--   basis VARCHAR: pass (outermost range of a stage), range (a range that is a step) or period (a step from its first device work to that
--     of the next, where steps follow each other)
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when its launches were not captured
--   tid INTEGER: thread of the range; NULL for a period
--   device_id INTEGER: GPU of a period; NULL for others
--   stage VARCHAR: stage, by stage_rule; (none) outside every stage
--   range_id BIGINT: the range; NULL for periodic steps, which have none
--   name_path_id BIGINT: path of names of the range; NULL for periodic steps
--   kernel_name_id BIGINT: for periodic steps, the kernel that each begins with; NULL where that is a graph replay, and for ranges
--   nth BIGINT: number of the pass, as in stage_pass, or of the step, as in step
--   start_ns BIGINT: start of the range on the CPU; of a period, start of its first device work
--   returned_ns BIGINT: end of the range on the CPU; NULL for a period
--   end_ns BIGINT: the later of the ends of the range and of its last device work; of a period, start of the first device work of the next
--   is_median BOOLEAN: whether its length is the lower median of its kind
--   is_slowest BOOLEAN: whether it is the longest of its kind
--   kind_count BIGINT: passes or steps of its kind, warm-up excluded

-- A pass that is a step is a pass. Work by time is work of all threads of the process.
WITH worked AS (
    SELECT
        d.range_id,
        max(d.last_end_ns) AS end_ns
    FROM range_device d
    WHERE d.run_id = $run
    GROUP BY d.range_id
), pass AS (
    SELECT
        'pass' AS basis,
        p.source_id,
        p.pid,
        n.tid,
        p.stage,
        p.range_id,
        p.path_id AS name_path_id,
        p.pass_id AS nth,
        p.start_ns,
        p.end_ns AS returned_ns,
        greatest(p.end_ns, w.end_ns) AS end_ns
    FROM stage_pass p
    JOIN nvtx_range n ON n.run_id = p.run_id AND n.range_id = p.range_id
    LEFT JOIN worked w ON w.range_id = p.range_id
    WHERE p.run_id = $run AND NOT p.is_warmup AND p.end_ns IS NOT NULL
), stepped AS ( -- of steps that follow each other the time is that from one to the next
    SELECT
        s.range_id,
        any_value(s.stage) AS stage,
        any_value(s.name_path_id) AS name_path_id,
        min(s.nth) AS nth,
        max(CASE s.attribution WHEN 'time' THEN s.start_ns + s.gpu_span_ns END) AS end_ns
    FROM step s
    WHERE s.run_id = $run
        AND s.is_default
        AND NOT s.is_warmup
        AND s.range_id IS NOT NULL
        AND s.time_basis <> 'gpu_period'
        AND s.range_id NOT IN (SELECT p.range_id FROM stage_pass p WHERE p.run_id = $run)
    GROUP BY s.range_id
), q AS (
    SELECT
        p.basis,
        p.source_id,
        p.pid,
        p.tid,
        NULL::INTEGER AS device_id,
        p.stage,
        p.range_id,
        p.name_path_id,
        NULL::BIGINT AS kernel_name_id,
        p.nth,
        p.start_ns,
        p.returned_ns,
        p.end_ns
    FROM pass p
    UNION ALL
    SELECT
        'range',
        n.source_id,
        n.pid,
        n.tid,
        NULL,
        s.stage,
        s.range_id,
        s.name_path_id,
        NULL,
        s.nth,
        n.start_ns,
        n.start_ns + n.duration_ns,
        greatest(n.start_ns + n.duration_ns, w.end_ns, s.end_ns)
    FROM stepped s
    JOIN nvtx_range n ON n.run_id = $run AND n.range_id = s.range_id
    LEFT JOIN worked w ON w.range_id = s.range_id
    WHERE n.duration_ns IS NOT NULL
    UNION ALL
    SELECT
        'period',
        s.source_id,
        s.pid,
        NULL,
        s.device_id,
        s.stage,
        s.range_id,
        s.name_path_id,
        s.kernel_name_id,
        s.nth,
        s.start_ns,
        NULL,
        s.start_ns + s.period_ns
    FROM step s
    WHERE s.run_id = $run
        AND s.is_default
        AND NOT s.is_warmup
        AND s.time_basis = 'gpu_period'
        AND s.period_ns IS NOT NULL
), placed AS (
    SELECT
        q.basis,
        q.source_id,
        q.pid,
        q.tid,
        q.device_id,
        q.stage,
        q.range_id,
        q.name_path_id,
        q.kernel_name_id,
        q.nth,
        q.start_ns,
        q.returned_ns,
        q.end_ns,
        row_number() OVER (k ORDER BY q.end_ns - q.start_ns, q.start_ns, q.range_id) AS place,
        count(*) OVER k AS kind_count,
        sum(q.end_ns - q.start_ns) OVER k AS kind_ns
    FROM q
    WINDOW k AS (
            PARTITION BY q.basis, q.source_id, q.pid, q.device_id, q.stage,
                CASE q.basis WHEN 'pass' THEN NULL ELSE q.name_path_id END, q.kernel_name_id
        )
)
SELECT
    row_number() OVER (
        ORDER BY p.kind_ns DESC, p.basis, p.source_id, p.pid, p.device_id, p.stage, p.name_path_id, p.kernel_name_id,
            p.place
    ) AS step_id,
    p.basis,
    p.source_id,
    p.pid,
    p.tid,
    p.device_id,
    p.stage,
    p.range_id,
    p.name_path_id,
    p.kernel_name_id,
    p.nth,
    p.start_ns,
    p.returned_ns,
    p.end_ns,
    p.place = (p.kind_count + 1) // 2 AS is_median,
    p.place = p.kind_count AS is_slowest,
    p.kind_count
FROM placed p
WHERE p.place IN ((p.kind_count + 1) // 2, p.kind_count) AND p.end_ns > p.start_ns
QUALIFY step_id <= 128
