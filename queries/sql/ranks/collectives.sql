-- collectives v2: Communication kernels by operation, with exposed time and bandwidth. Their time includes waiting for slower ranks: see
--     rank-skew.
-- grain: one family and operation of a stage on one GPU of a process
-- key: family, operation, stage, source_id, pid, device
-- notes: graph timelines collective launch left-collectives
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   operation: all-reduce, all-gather, ...: from the call, else from the family; NULL when neither has it
--   stage: the stage; (none) for kernels launched outside every stage or without a captured launch
--   device: GPU
--   rank: rank of the process in the communicator, or in its job; NULL when unknown
--   calls: executions
--   total_ns: sum of the durations
--   exposed_ns: part of total_ns in which only collectives ran on the GPU in the same source
--   exposed_ratio: exposed_ns as a share of total_ns
--   median_ns: median duration
--   total_bytes: sum over the calls of the larger of the bytes a rank sends and receives; for broadcast and reduce its buffer, whichever
--     rank is the root; NULL when a call's bytes are unknown, as for gather and scatter with an unknown root
--   bus_bytes_per_s: bus bandwidth: algorithm_bytes_per_s x 2(n-1)/n for an all-reduce over n ranks, (n-1)/n for all-gather,
--     reduce-scatter, all-to-all, gather and scatter, 1 for broadcast, reduce, send and recv, as NCCL's tests define it (nccl-tests,
--     doc/PERFORMANCE.md)
--   algorithm_bytes_per_s: algorithm bandwidth: total_bytes / total_ns
--   mean_ns: mean duration
--   min_ns: shortest duration
--   max_ns: longest duration
--   rank_count: ranks in the communicator; NULL when unknown, or not the same in all calls
--   reason: why the bandwidth is unknown: no-bytes (the capture lacks the bytes of a call: NCCL tells them from 2.25 on, and not of what a
--     CUDA graph replays; for nsys, export with --include-json=true), no-bytes-or-root (bytes or root of a gather or scatter),
--     no-operation (operation of the kernel), no-bus-bandwidth (undefined for the operation) or no-rank-count; NULL when it is known
--   family: kernel family by kernel_rule; NULL when no rule matches
--   source_id: the source
--   pid: process

WITH t AS (
    SELECT
        c.operation,
        c.stage,
        c.device_id,
        coalesce(CASE WHEN min(c.rank_id) = max(c.rank_id) THEN min(c.rank_id) END, any_value(o.rank_id)) AS rank,
        count(*) AS calls,
        sum(c.end_ns - c.start_ns)::BIGINT AS total_ns,
        sum(c.exposed_ns)::BIGINT AS exposed_ns,
        median(c.end_ns - c.start_ns) AS median_ns,
        CASE
            WHEN count(c.in_bytes + c.out_bytes) = count(*) THEN sum(greatest(c.in_bytes, c.out_bytes))::BIGINT
        END AS total_bytes,
        avg(c.end_ns - c.start_ns) AS mean_ns,
        min(c.end_ns - c.start_ns) AS min_ns,
        max(c.end_ns - c.start_ns) AS max_ns,
        CASE
            WHEN count(c.group_count) = count(*) AND min(c.group_count) = max(c.group_count) THEN min(c.group_count)
        END AS rank_count,
        c.family,
        c.source_id,
        c.pid
    FROM _ranked_collective(run, stage := stage, device := device, warmup := warmup, source := source) c
    JOIN source o ON o.run_id = run AND o.source_id = c.source_id
    WHERE NOT c.is_left
    GROUP BY c.operation, c.stage, c.device_id, c.family, c.source_id, c.pid
)
SELECT
    t.operation,
    t.stage,
    t.device_id AS device,
    t.rank,
    t.calls,
    t.total_ns,
    t.exposed_ns,
    t.exposed_ns / nullif(t.total_ns, 0) AS exposed_ratio,
    t.median_ns,
    t.total_bytes,
    t.total_bytes / nullif(t.total_ns, 0) * 1e9 * _bus_factor(t.operation, t.rank_count) AS bus_bytes_per_s,
    t.total_bytes / nullif(t.total_ns, 0) * 1e9 AS algorithm_bytes_per_s,
    t.mean_ns,
    t.min_ns,
    t.max_ns,
    t.rank_count,
    CASE
        WHEN t.total_bytes IS NULL AND t.operation IN ('gather', 'scatter') THEN 'no-bytes-or-root'
        WHEN t.total_bytes IS NULL THEN 'no-bytes'
        WHEN t.operation IS NULL THEN 'no-operation'
        WHEN _bus_factor(t.operation, 2) IS NULL THEN 'no-bus-bandwidth'
        WHEN _bus_factor(t.operation, t.rank_count) IS NULL THEN 'no-rank-count'
    END AS reason,
    t.family,
    t.source_id,
    t.pid
FROM t
ORDER BY t.total_ns DESC, t.family, t.operation, t.stage, t.source_id, t.pid, t.device_id
