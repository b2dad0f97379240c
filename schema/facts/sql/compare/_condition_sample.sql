-- _condition_sample: The state of a run's GPUs while its timeline was captured, sampled from NVML some ten times a second.
-- grain: one statement about an aspect of a run
-- key: aspect
-- needs: device_sample
-- columns:
--   source_id INTEGER: the source that says it; NULL when it follows from several
--   priority INTEGER: of several statements about an aspect those of the lowest number hold
--   aspect VARCHAR: what it is about
--   value VARCHAR: what is said of it; NULL when nothing is
--   weight VARCHAR: decides, clouds or tells, as in run-conditions

-- Which GPUs are the workload's is known by UUID; where UUIDs tell none, all that were at work may be. A GPU of which NVML does not tell
-- whether it was at work may be throttled in any sample, and its clock at work is not known.
WITH used AS (
    SELECT DISTINCT c.device_id
    FROM capture_device c
    JOIN device g ON g.run_id = c.run_id AND replace(g.uuid, 'GPU-', '') = replace(c.uuid, 'GPU-', '')
    JOIN device_time t ON t.run_id = g.run_id AND t.source_id = g.source_id AND t.device_id = g.device_id
    WHERE c.run_id = $run
), s AS (
    SELECT
        d.source_id,
        d.sm_clock_hz,
        d.sm_ratio > 0 AS is_busy,
        d.throttle_mask,
        d.other_process_count
    FROM device_sample d
    JOIN capture_pass p
        ON p.run_id = d.run_id
        AND p.source_id = d.source_id
        AND p.pass_id = d.pass_id
        AND p.tool IN ('nsys', 'prof', 'torch')
    LEFT JOIN used u ON u.device_id = d.device_id
    WHERE d.run_id = $run
    QUALIFY (u.device_id IS NOT NULL) = bool_or(u.device_id IS NOT NULL) OVER (PARTITION BY d.run_id)
), x AS (
    SELECT
        max(s.source_id) AS source_id,
        median(s.sm_clock_hz) FILTER (s.is_busy) AS clock_hz,
        count(s.throttle_mask) FILTER (coalesce(s.is_busy, true)) AS busy_count,
        count(*) FILTER (coalesce(s.is_busy, true) AND s.throttle_mask & r.slow <> 0) AS slowed_count,
        bit_or(s.throttle_mask) FILTER (coalesce(s.is_busy, true)) AS seen,
        any_value(r.reasons) AS reasons,
        count(s.other_process_count) AS told_count,
        count(*) FILTER (s.other_process_count > 0) AS shared_count
    FROM s
    CROSS JOIN (
        SELECT
            bit_or(1::BIGINT << t.bit_count) AS slow,
            list({'bit': 1::BIGINT << t.bit_count, 'reason': t.reason} ORDER BY t.bit_count) AS reasons
        FROM _throttle_reason t
        WHERE t.is_slowdown
    ) r
)
SELECT
    x.source_id,
    0 AS priority,
    unnest(
        [
            {'aspect': 'SM clock', 'value': format('{:.0f} MHz', x.clock_hz / 1e6), 'weight': 'clouds'},
            {
                'aspect': 'throttling',
                'value': format('{:.1f} % of samples', 100 * x.slowed_count / nullif(x.busy_count, 0))
                    || CASE
                        WHEN x.slowed_count > 0
                            THEN ': ' || array_to_string([r.reason FOR r IN x.reasons IF x.seen & r.bit <> 0], ', ')
                        ELSE ''
                    END,
                'weight': 'clouds'
            },
            {
                'aspect': 'other processes',
                'value': format('{:.1f} % of samples', 100 * x.shared_count / nullif(x.told_count, 0)),
                'weight': 'clouds'
            }
        ],
        recursive := true
    )
FROM x
