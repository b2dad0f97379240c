-- _gap_pause: Idle gaps by what has a name of its own in them. What is in several at once counts for the first of collect, compile and gil,
--     and of allocate and load.
-- grain: one gap in which there is such a thing
-- key: source_id, device_id, start_ns
-- needs: _pause
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   start_ns BIGINT: start of the gap
--   collect_ns BIGINT: Python's garbage collector, of the time outside CUDA calls
--   compile_ns BIGINT: compilers, likewise
--   gil_ns BIGINT: waits for Python's lock, likewise
--   allocate_ns BIGINT: calls that allocate or free memory
--   load_ns BIGINT: calls that load code
--   host_ns BIGINT: what of the first three is time outside CUDA for 100 us or longer
--   launch_delay_ns BIGINT: the rest of the first three: between calls on the way to the next launch

WITH level AS ( -- 1: of the first cause, 2: of the first two, 3: of all
    SELECT
        p.source_id,
        p.device_id,
        p.gap_start_ns,
        p.cause IN ('collect', 'compile', 'gil') AS is_outside,
        unnest(range(
            CASE p.cause WHEN 'collect' THEN 1 WHEN 'allocate' THEN 1 WHEN 'gil' THEN 3 ELSE 2 END,
            4
        )) AS level,
        p.start_ns,
        p.end_ns
    FROM _pause p
), upto AS (
    SELECT
        l.source_id,
        l.device_id,
        l.gap_start_ns,
        l.is_outside,
        l.level,
        l.start_ns,
        l.end_ns,
        max(l.end_ns) OVER (
            PARTITION BY l.source_id, l.device_id, l.gap_start_ns, l.is_outside, l.level
            ORDER BY l.start_ns, l.end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns
    FROM level l
), joined AS (
    SELECT
        u.source_id,
        u.device_id,
        u.gap_start_ns,
        u.is_outside,
        u.level,
        sum(greatest(u.end_ns - greatest(u.start_ns, coalesce(u.before_ns, u.start_ns)), 0))::BIGINT AS ns
    FROM upto u
    GROUP BY u.source_id, u.device_id, u.gap_start_ns, u.is_outside, u.level
), idle AS (
    SELECT
        g.source_id,
        g.device_id,
        g.start_ns,
        coalesce(sum(g.ns) FILTER (g.part = 'host'), 0)::BIGINT AS host_ns,
        coalesce(sum(g.ns) FILTER (g.part = 'launch-delay'), 0)::BIGINT AS launch_delay_ns,
        coalesce(sum(g.ns) FILTER (g.part = 'call'), 0)::BIGINT AS call_ns
    FROM gap_part g
    WHERE g.run_id = $run
    GROUP BY g.source_id, g.device_id, g.start_ns
), most AS ( -- what there is of either
    SELECT
        j.source_id,
        j.device_id,
        j.gap_start_ns,
        j.is_outside,
        any_value(g.host_ns) AS host_ns,
        coalesce(max(least(j.ns, x.ns)) FILTER (j.level = 1), 0) AS first_ns,
        coalesce(max(least(j.ns, x.ns)) FILTER (j.level = 2), 0) AS two_ns,
        max(least(j.ns, x.ns)) AS all_ns
    FROM joined j
    JOIN idle g ON g.source_id = j.source_id AND g.device_id = j.device_id AND g.start_ns = j.gap_start_ns
    CROSS JOIN LATERAL (
        SELECT CASE WHEN j.is_outside THEN g.host_ns + g.launch_delay_ns ELSE g.call_ns END AS ns
    ) x
    GROUP BY j.source_id, j.device_id, j.gap_start_ns, j.is_outside
)
SELECT
    m.source_id,
    m.device_id,
    m.gap_start_ns AS start_ns,
    coalesce(sum(m.first_ns) FILTER (m.is_outside), 0)::BIGINT AS collect_ns,
    coalesce(sum(m.two_ns - m.first_ns) FILTER (m.is_outside), 0)::BIGINT AS compile_ns,
    coalesce(sum(m.all_ns - m.two_ns) FILTER (m.is_outside), 0)::BIGINT AS gil_ns,
    coalesce(sum(m.first_ns) FILTER (NOT m.is_outside), 0)::BIGINT AS allocate_ns,
    coalesce(sum(m.all_ns - m.first_ns) FILTER (NOT m.is_outside), 0)::BIGINT AS load_ns,
    coalesce(sum(least(m.all_ns, m.host_ns)) FILTER (m.is_outside), 0)::BIGINT AS host_ns,
    coalesce(sum(m.all_ns - least(m.all_ns, m.host_ns)) FILTER (m.is_outside), 0)::BIGINT AS launch_delay_ns
FROM most m
GROUP BY m.source_id, m.device_id, m.gap_start_ns
