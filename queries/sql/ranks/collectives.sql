-- collectives v1: Kernels of communication by what they do, with the time that they ran alone and the bandwidth that they reached. Their time holds the waiting for ranks that come later: see rank-skew.
-- grain: one family and operation of a stage on one GPU of a process
-- key: family, operation, stage, source_id, pid, device
-- notes: graph timelines launch
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   operation: all-reduce, all-gather, ...: what the call says, else the family; NULL when neither does
--   stage: the stage; (none) for kernels launched outside every stage or without a captured launch
--   device: GPU
--   rank: rank of the process in the communicator, or in its job; NULL when not known
--   calls: executions
--   total_ns: sum of the execution times
--   exposed_ns: the part of it in which no other kernel than collectives ran on the GPU in the same source
--   exposed_ratio: exposed_ns as a share of total_ns
--   median_ns: median execution time
--   total_bytes: sum over the calls of the larger of the bytes given and received by the rank, of a broadcast or reduce of its buffer whichever rank is the root; NULL when one is not known,
--     as of a gather or scatter when the root is not
--   bus_bytes_per_s: bus bandwidth: algorithm_bytes_per_s times 2(n-1)/n for an all-reduce of n ranks, (n-1)/n for all-gather, reduce-scatter, all-to-all, gather and scatter, 1 for broadcast, reduce, send and recv, as NCCL's tests define it (nccl-tests, doc/PERFORMANCE.md)
--   algorithm_bytes_per_s: total_bytes by total_ns
--   mean_ns: mean execution time
--   min_ns: shortest execution
--   max_ns: longest execution
--   rank_count: ranks in the communicator; NULL when not known, or not the same in all calls
--   reason: why the bandwidth is not known; NULL when it is
--   family: kernel family by kernel_rule
--   source_id: the source
--   pid: process

WITH c AS (
    SELECT x.source_id, x.pid, x.device_id, x.start_ns, x.end_ns, x.path_id, x.family, x.operation, greatest(x.in_bytes, x.out_bytes) AS bytes,
        CASE WHEN x.in_bytes IS NOT NULL AND x.out_bytes IS NOT NULL THEN 1 END AS known, x.group_count, x.rank_id
    FROM _collective(run, source := source) x
    WHERE device IS NULL OR x.device_id = device
), other AS ( -- how much of the time up to the last end so far other kernels have covered
    SELECT o.source_id, o.device_id, o.start_ns, max(o.end_ns) OVER w AS until_ns, o.end_ns, max(o.end_ns) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM (
        SELECT k.source_id, k.device_id, k.start_ns, max(k.start_ns + k.duration_ns) AS end_ns
        FROM kernel k JOIN (SELECT DISTINCT c.source_id, c.device_id FROM c) d ON d.source_id = k.source_id AND d.device_id = k.device_id
        WHERE k.run_id = run AND k.kernel_name_id NOT IN (SELECT n.kernel_name_id FROM kernel_class n WHERE n.run_id = run AND n.role = 'collective')
        GROUP BY k.source_id, k.device_id, k.start_ns
    ) o
    WINDOW w AS (PARTITION BY o.source_id, o.device_id ORDER BY o.start_ns)
), covered AS (
    SELECT o.source_id, o.device_id, o.start_ns, o.until_ns, sum(greatest(o.end_ns - greatest(o.start_ns, coalesce(o.before_ns, o.start_ns)), 0)) OVER (PARTITION BY o.source_id, o.device_id ORDER BY o.start_ns)::BIGINT AS sum_ns
    FROM other o
), told AS (
    SELECT c.source_id, c.pid, c.device_id, c.path_id, c.family, c.operation, c.bytes, c.known, c.group_count, c.rank_id, c.end_ns - c.start_ns AS duration_ns,
        coalesce(e.sum_ns - greatest(e.until_ns - c.end_ns, 0), 0) - coalesce(b.sum_ns - greatest(b.until_ns - c.start_ns, 0), 0) AS covered_ns
    FROM c ASOF LEFT JOIN covered b ON b.source_id = c.source_id AND b.device_id = c.device_id AND c.start_ns >= b.start_ns
    ASOF LEFT JOIN covered e ON e.source_id = c.source_id AND e.device_id = c.device_id AND c.end_ns >= e.start_ns
), t AS (
    SELECT t.operation, coalesce(s.stage, '(none)') AS stage, t.device_id, coalesce(CASE WHEN min(t.rank_id) = max(t.rank_id) THEN min(t.rank_id) END, any_value(o.rank_id)) AS rank, count(*) AS calls,
        sum(t.duration_ns)::BIGINT AS total_ns, sum(t.duration_ns - t.covered_ns)::BIGINT AS exposed_ns, median(t.duration_ns) AS median_ns, CASE WHEN count(t.known) = count(*) THEN sum(t.bytes)::BIGINT END AS total_bytes,
        avg(t.duration_ns) AS mean_ns, min(t.duration_ns) AS min_ns, max(t.duration_ns) AS max_ns, CASE WHEN count(t.group_count) = count(*) AND min(t.group_count) = max(t.group_count) THEN min(t.group_count) END AS rank_count, t.family, t.source_id, t.pid, any_value(o.kind) AS kind
    FROM told t LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = t.path_id
    LEFT JOIN source o ON o.run_id = run AND o.source_id = t.source_id
    GROUP BY t.operation, coalesce(s.stage, '(none)'), t.device_id, t.family, t.source_id, t.pid
)
SELECT t.operation, t.stage, t.device_id AS device, t.rank, t.calls, t.total_ns, t.exposed_ns, t.exposed_ns / nullif(t.total_ns, 0) AS exposed_ratio, t.median_ns, t.total_bytes,
    t.total_bytes / nullif(t.total_ns, 0) * 1e9 * _bus_factor(t.operation, t.rank_count) AS bus_bytes_per_s, t.total_bytes / nullif(t.total_ns, 0) * 1e9 AS algorithm_bytes_per_s,
    t.mean_ns, t.min_ns, t.max_ns, t.rank_count, CASE WHEN t.total_bytes IS NULL AND t.operation IN ('gather', 'scatter') THEN 'the capture does not hold the bytes of each call, or does not say which rank is the root' WHEN t.total_bytes IS NULL THEN 'the capture does not hold the bytes of each call' || CASE WHEN t.kind = 'nsys' THEN ': nsys export --include-json=true keeps them' ELSE '' END WHEN t.operation IS NULL THEN 'what the kernel does is not known'
        WHEN _bus_factor(t.operation, 2) IS NULL THEN 'no bus bandwidth is defined for it' WHEN _bus_factor(t.operation, t.rank_count) IS NULL THEN 'the number of ranks is not known' END AS reason, t.family, t.source_id, t.pid
FROM t
WHERE stage IS NULL OR t.stage = stage
ORDER BY t.total_ns DESC, t.family, t.operation, t.stage, t.source_id, t.pid, t.device_id
