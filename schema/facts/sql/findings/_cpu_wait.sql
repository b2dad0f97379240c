-- _cpu_wait: How long a thread waited for a CPU in a range, as the helper of prof capture marks it at the range's end.
-- grain: one marked range
-- key: range_id
-- needs: nvtx_range
-- columns:
--   range_id BIGINT: the range
--   wait_ns BIGINT: time that the thread was ready to run and no CPU ran it, also because its control group had used up its CPU time
--   wall_ns BIGINT: time of the range
--   run_ns BIGINT: time that the thread ran
--   others_ns BIGINT: CPU time of the other threads of its process meanwhile
--   preempted_count BIGINT: how often it lost its CPU while it was ready to run
--   cpu_count BIGINT: CPUs that it may run on
--   limit_ratio DOUBLE: CPUs that its control groups may use; NULL without a limit
--   throttled_ns BIGINT: time that the group of this limit was stopped for it, all CPUs together; NULL without a limit
--   thread_count BIGINT: threads of the process
--   runnable_count BIGINT: threads of the whole machine that ran or were ready to run at the range's end

-- prof_mark/waiting.py writes the name.
WITH mark AS (
    SELECT
        n.parent_range_id AS range_id,
        regexp_extract(
            n.name,
            '^CPU wait\[ns=(\d+), wall=(\d+), run=(\d+), others=(\d+), preempted=(\d+), blocked=\d+, cpus=(\d+), limit=(\d*), throttled=(\d*), threads=(\d+), runnable=(\d+)\]$',
            ['wait', 'wall', 'run', 'others', 'preempted', 'cpus', 'limit', 'throttled', 'threads', 'runnable']
        ) AS m
    FROM range_path p JOIN nvtx_range n ON n.run_id = p.run_id AND n.path_id = p.path_id
    WHERE p.run_id = $run AND starts_with(p.name, 'CPU wait[ns=') AND n.parent_range_id IS NOT NULL
)
SELECT
    q.range_id,
    sum(q.wait_ns)::BIGINT AS wait_ns,
    sum(q.wall_ns)::BIGINT AS wall_ns,
    sum(q.run_ns)::BIGINT AS run_ns,
    sum(q.others_ns)::BIGINT AS others_ns,
    sum(q.preempted_count)::BIGINT AS preempted_count,
    min(q.cpu_count) AS cpu_count,
    min(q.limit_ratio) AS limit_ratio,
    sum(q.throttled_ns)::BIGINT AS throttled_ns,
    max(q.thread_count) AS thread_count,
    max(q.runnable_count) AS runnable_count
FROM (
    SELECT
        m.range_id,
        TRY_CAST(m.m.wait AS BIGINT) AS wait_ns,
        TRY_CAST(m.m.wall AS BIGINT) AS wall_ns,
        TRY_CAST(m.m.run AS BIGINT) AS run_ns,
        TRY_CAST(m.m.others AS BIGINT) AS others_ns,
        TRY_CAST(m.m.preempted AS BIGINT) AS preempted_count,
        TRY_CAST(m.m.cpus AS BIGINT) AS cpu_count,
        TRY_CAST(m.m.limit AS BIGINT) / 1000 AS limit_ratio,
        TRY_CAST(m.m.throttled AS BIGINT) AS throttled_ns,
        TRY_CAST(m.m.threads AS BIGINT) AS thread_count,
        TRY_CAST(m.m.runnable AS BIGINT) AS runnable_count
    FROM mark m
) q
WHERE q.wait_ns <= q.wall_ns -- a thread cannot wait for longer
GROUP BY q.range_id
