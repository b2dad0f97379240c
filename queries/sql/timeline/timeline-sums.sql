-- timeline-sums v2: Device work between two times of one source, by name: what of it lies between them.
-- grain: one GPU, kind of work and name
-- key: device, lane, name
-- notes: graph
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   from_time BIGINT = NULL: start, from the start of the source; default: all before until_time
--   until_time BIGINT = NULL: end; default: all after from_time
--   device BIGINT = NULL: only this GPU
--   top BIGINT = 20: maximum rows, most time first; 0 for all
-- columns:
--   device: GPU
--   lane: kernel, collective, graph (a replay traced as a whole) or copy (a copy or fill)
--   name: kernel, operation of a copy or fill, or graph replay
--   calls: how many run between the two times
--   total_ns: sum of their time between the two
--   longest_ns: the longest of these times
--   share_ratio: part of the time of all rows, those not shown included

SELECT
    d.device_id AS device,
    CASE d.lane_id
        WHEN 1 THEN CASE WHEN c.role = 'collective' THEN 'collective' ELSE 'kernel' END
        WHEN 3 THEN 'graph'
        ELSE 'copy'
    END AS lane,
    CASE d.lane_id WHEN 1 THEN n.name WHEN 3 THEN 'graph replay' ELSE d.operation END AS name,
    d.calls,
    d.total_ns,
    d.longest_ns,
    d.total_ns / nullif(d.all_ns, 0) AS share_ratio
FROM (
    SELECT
        d.device_id,
        d.lane_id,
        d.name_id,
        d.operation,
        d.calls,
        d.total_ns,
        d.longest_ns,
        sum(d.total_ns) OVER (PARTITION BY d.source_id) AS all_ns,
        row_number() OVER (ORDER BY d.total_ns DESC, d.device_id, d.lane_id, d.name_id, d.operation) AS nth
    FROM (
        SELECT
            w.source_id,
            w.device_id,
            w.lane_id,
            w.name_id,
            w.operation,
            count(*) AS calls,
            max(_inside_ns(w.start_ns, w.duration_ns, from_time, until_time)) AS longest_ns,
            sum(_inside_ns(w.start_ns, w.duration_ns, from_time, until_time))::BIGINT AS total_ns
        FROM _timeline_piece(run) w
        WHERE w.source_id = of_source
            AND (device IS NULL OR w.device_id = device)
            AND (until_time IS NULL OR w.start_ns < until_time)
            AND (from_time IS NULL OR w.start_ns + w.duration_ns > from_time OR w.start_ns >= from_time)
            AND (from_time IS NULL OR until_time IS NULL OR until_time > from_time)
        GROUP BY w.source_id, w.device_id, w.lane_id, w.name_id, w.operation
    ) d
) d
LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = d.name_id
LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = d.name_id
WHERE top = 0 OR d.nth <= top
ORDER BY d.total_ns DESC, d.device_id, d.lane_id, n.name, d.operation
