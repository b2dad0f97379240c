-- _finding_part: The time that findings are shares of: of each measured pass on each GPU, and of timelines without such passes of all
--     device work of a source.
-- grain: one pass on one GPU, or one source on one GPU
-- key: source_id, range_id, device_id
-- needs: device_time
-- columns:
--   kind VARCHAR: kind of the timeline
--   is_counted BOOLEAN: as in timeline
--   stage VARCHAR: the stage; NULL: all device work
--   source_id INTEGER: the source
--   range_id BIGINT: the pass; NULL likewise
--   device_id INTEGER: GPU
--   start_ns BIGINT: start of its first device work
--   end_ns BIGINT: end of its last
--   kernel_ns BIGINT: as in device_time, like all below
--   graph_ns BIGINT: graph replays
--   copy_ns BIGINT: copies and fills
--   other_ns BIGINT: only other work ran
--   gap_count BIGINT: idle gaps
--   collective_count BIGINT: number of collectives
--   collective_ns BIGINT: the part of kernel_ns in which one ran
--   exposed_ns BIGINT: the part of that in which no other kernel ran
--   collect_ns BIGINT: of its idle time, as in _gap_pause, like all below
--   compile_ns BIGINT: compilers
--   gil_ns BIGINT: waits for Python's lock
--   allocate_ns BIGINT: calls that allocate or free memory
--   load_ns BIGINT: calls that load code, less what is starved_ns
--   starved_ns BIGINT: time that the thread waited for a CPU, as far as it was idle outside of the others and of short launching calls; 0
--     in a stage where that is below the threshold of cpu-starved. When in the pass a thread waited is not known: it is of the part host
--     first, then of call, launch-delay and wait
--   named_host_ns BIGINT: what of collect_ns, compile_ns, gil_ns and starved_ns is of the part host
--   named_delay_ns BIGINT: what of them is of launch-delay
--   starved_call_ns BIGINT: what of starved_ns is of call
--   starved_wait_ns BIGINT: what of it is of wait

WITH cause AS (
    SELECT
        d.source_id,
        d.device_id,
        d.range_id,
        sum(c.collect_ns)::BIGINT AS collect_ns,
        sum(c.compile_ns)::BIGINT AS compile_ns,
        sum(c.gil_ns)::BIGINT AS gil_ns,
        sum(c.allocate_ns)::BIGINT AS allocate_ns,
        sum(c.load_ns)::BIGINT AS load_ns,
        sum(c.host_ns)::BIGINT AS named_host_ns,
        sum(c.launch_delay_ns)::BIGINT AS named_delay_ns
    FROM _gap_pause c
    JOIN device_part d
        ON d.run_id = $run
        AND d.source_id = c.source_id
        AND d.device_id = c.device_id
        AND c.start_ns >= d.start_ns
        AND c.start_ns < d.start_ns + d.span_ns
    GROUP BY d.source_id, d.device_id, d.range_id
), part AS (
    SELECT
        t.kind,
        t.is_counted,
        CASE WHEN t.is_staged THEN d.stage END AS stage,
        d.source_id,
        d.range_id,
        d.device_id,
        d.start_ns,
        d.start_ns + d.span_ns AS end_ns,
        d.compute_ns + d.collective_overlapped_ns + d.collective_exposed_ns AS kernel_ns,
        d.graph_ns,
        d.copy_ns,
        d.other_ns,
        d.gap_count,
        d.collective_count,
        d.collective_overlapped_ns + d.collective_exposed_ns AS collective_ns,
        d.collective_exposed_ns AS exposed_ns,
        coalesce(c.collect_ns, 0) AS collect_ns,
        coalesce(c.compile_ns, 0) AS compile_ns,
        coalesce(c.gil_ns, 0) AS gil_ns,
        coalesce(c.allocate_ns, 0) AS allocate_ns,
        coalesce(c.load_ns, 0) AS load_ns,
        coalesce(c.named_host_ns, 0) AS named_host_ns,
        coalesce(c.named_delay_ns, 0) AS named_delay_ns,
        coalesce(w.wait_ns, 0) AS cpu_wait_ns
    FROM device_part d
    JOIN _finding_timeline t ON t.source_id = d.source_id
    LEFT JOIN cause c
        ON c.source_id = d.source_id AND c.device_id = d.device_id AND c.range_id IS NOT DISTINCT FROM d.range_id
    LEFT JOIN _cpu_wait w ON w.range_id = d.range_id
    WHERE d.run_id = $run
        AND CASE WHEN t.is_staged THEN d.range_id IS NOT NULL AND NOT d.is_warmup ELSE d.range_id IS NULL END
), idle AS (
    SELECT
        i.source_id,
        i.range_id,
        i.device_id,
        sum(i.ns) FILTER (i.part = 'host') AS host_ns,
        sum(i.ns) FILTER (i.part = 'call') AS call_ns,
        sum(i.ns) FILTER (i.part = 'launch-delay') AS delay_ns,
        sum(i.ns) FILTER (i.part = 'wait') AS wait_ns
    FROM idle_part i
    WHERE i.run_id = $run
    GROUP BY i.source_id, i.range_id, i.device_id
), room AS ( -- what waiting for a CPU can be part of
    SELECT
        p.kind,
        p.stage,
        p.source_id,
        p.range_id,
        p.device_id,
        p.end_ns - p.start_ns AS span_ns,
        coalesce(i.host_ns, 0)::BIGINT - p.named_host_ns AS host_ns,
        coalesce(i.call_ns, 0)::BIGINT - p.allocate_ns AS call_ns,
        coalesce(i.delay_ns, 0)::BIGINT - p.named_delay_ns AS delay_ns,
        coalesce(i.wait_ns, 0)::BIGINT AS wait_ns,
        p.cpu_wait_ns
    FROM part p
    LEFT JOIN idle i
        ON i.source_id = p.source_id AND i.device_id = p.device_id AND i.range_id IS NOT DISTINCT FROM p.range_id
), most AS (
    SELECT
        r.kind,
        r.stage,
        r.source_id,
        r.range_id,
        r.device_id,
        r.span_ns,
        r.host_ns,
        r.call_ns,
        r.delay_ns,
        least(r.cpu_wait_ns, r.host_ns + r.call_ns + r.delay_ns + r.wait_ns) AS ns
    FROM room r
), counted AS (
    SELECT
        m.source_id,
        m.range_id,
        m.device_id,
        m.host_ns,
        m.call_ns,
        m.delay_ns,
        CASE
            WHEN sum(m.ns) OVER stage
                    >= (SELECT f.value FROM finding_rule f WHERE f.finding_id = 'cpu-starved')
                        * sum(m.span_ns) OVER stage
                THEN m.ns
            ELSE 0
        END AS ns
    FROM most m
    WINDOW stage AS (PARTITION BY m.kind, m.stage, m.device_id)
), starved AS ( -- shares of it
    SELECT
        c.source_id,
        c.range_id,
        c.device_id,
        c.ns,
        least(c.ns, c.host_ns) AS host_ns,
        least(greatest(c.ns - c.host_ns, 0), c.call_ns) AS call_ns,
        least(greatest(c.ns - c.host_ns - c.call_ns, 0), c.delay_ns) AS delay_ns,
        greatest(c.ns - c.host_ns - c.call_ns - c.delay_ns, 0) AS wait_ns
    FROM counted c
    WHERE c.ns > 0
)
SELECT
    p.kind,
    p.is_counted,
    p.stage,
    p.source_id,
    p.range_id,
    p.device_id,
    p.start_ns,
    p.end_ns,
    p.kernel_ns,
    p.graph_ns,
    p.copy_ns,
    p.other_ns,
    p.gap_count,
    p.collective_count,
    p.collective_ns,
    p.exposed_ns,
    p.collect_ns,
    p.compile_ns,
    p.gil_ns,
    p.allocate_ns,
    greatest(p.load_ns - coalesce(s.call_ns, 0), 0) AS load_ns,
    coalesce(s.ns, 0) AS starved_ns,
    p.named_host_ns + coalesce(s.host_ns, 0) AS named_host_ns,
    p.named_delay_ns + coalesce(s.delay_ns, 0) AS named_delay_ns,
    coalesce(s.call_ns, 0) AS starved_call_ns,
    coalesce(s.wait_ns, 0) AS starved_wait_ns
FROM part p
LEFT JOIN starved s
    ON s.source_id = p.source_id AND s.device_id = p.device_id AND s.range_id IS NOT DISTINCT FROM p.range_id
