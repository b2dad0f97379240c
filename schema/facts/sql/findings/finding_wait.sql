-- finding_wait: Idle time of passes whose thread waited for a CPU.
-- into: finding
-- needs: _finding_part _cpu_wait

WITH q AS (
    SELECT
        p.kind,
        p.stage,
        p.device_id,
        sum(p.starved_ns)::BIGINT AS saving_ns,
        max(p.starved_ns) AS max_ns,
        _median_saving(p.starved_ns, p.end_ns - p.start_ns) AS median_ns,
        count(*) AS pass_count,
        sum(w.wait_ns)::BIGINT AS wait_ns,
        sum(w.wall_ns)::BIGINT AS wall_ns,
        sum(w.run_ns)::BIGINT AS run_ns,
        sum(w.others_ns)::BIGINT AS others_ns,
        sum(w.preempted_count)::BIGINT AS preempted_count,
        min(w.cpu_count) AS cpu_count,
        min(w.limit_ratio) AS limit_ratio,
        sum(w.throttled_ns)::BIGINT AS throttled_ns,
        max(w.thread_count) AS thread_count,
        max(w.runnable_count) AS runnable_count
    FROM _finding_part p LEFT JOIN _cpu_wait w ON w.range_id = p.range_id
    GROUP BY p.kind, p.stage, p.device_id
)
SELECT
    s.kind,
    s.is_counted,
    'cpu-starved' AS finding_id,
    s.stage,
    s.device_id,
    NULL AS subject,
    q.saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'max_ns': q.max_ns,
        'median_ns': q.median_ns,
        'pass_count': q.pass_count,
        'wait_ns': q.wait_ns,
        'wall_ns': q.wall_ns,
        'run_ns': q.run_ns,
        'others_ns': q.others_ns,
        'preempted_count': q.preempted_count,
        'cpu_count': q.cpu_count,
        'limit_ratio': q.limit_ratio,
        'throttled_ns': q.throttled_ns,
        'thread_count': q.thread_count,
        'runnable_count': q.runnable_count
    })::VARCHAR AS evidence
FROM finding_span s
JOIN q ON q.kind = s.kind AND q.stage IS NOT DISTINCT FROM s.stage AND q.device_id = s.device_id
WHERE s.run_id = $run AND s.span_ns > 0 AND q.saving_ns > 0
