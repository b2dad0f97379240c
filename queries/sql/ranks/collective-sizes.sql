-- collective-sizes v1: Bus bandwidth of collectives by message size, communicator and algorithm, with the wait for late ranks taken out
--     where ranks are matched. Warm-up counts too: passes are not told apart yet.
-- grain: one operation, communicator, message size and algorithm, over its ranks
-- key: operation, group, total_bytes, algorithm
-- notes: graph timelines collective skew launch warm
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for kernels outside every stage
--   {source}
-- columns:
--   operation: all-reduce, all-gather, ...: from the call, else from the family; NULL when neither has it
--   group: communicator; NULL when unknown
--   rank_count: its ranks; NULL when unknown, or not the same in all calls
--   total_bytes: message size: the larger of the bytes a rank sends and receives in a call; NULL when unknown
--   algorithm: algorithm and protocol by the kernel's name, e.g. RING_LL; NULL when it has none
--   calls: executions, of all ranks
--   total_ns: sum of their durations, waiting for late ranks included
--   bus_bytes_per_s: bus bandwidth of the time without waiting: bytes of the matched calls x factor / their transfer time, as in
--     collectives; NULL without a certain match, see rank-skew
--   own_bus_bytes_per_s: bus bandwidth of total_ns, as in collectives; NULL when bytes or ranks are unknown
--   transfer_median_ns: median time from the start of the last rank to the end on that rank; NULL without a certain match
--   median_ns: median duration, waiting included
--   wait_ns: time of all ranks before the last rank started; NULL without a certain match
--   matched_count: calls with a certain match, of all ranks
--   min_ns: shortest duration
--   max_ns: longest duration

WITH c AS (
    SELECT
        c.operation,
        c.group_name,
        c.group_count,
        greatest(c.in_bytes, c.out_bytes) AS bytes,
        nullif(
            regexp_extract(
                n.name, '_((?:RING|TREE|NVLS_TREE|NVLS|COLLNET_DIRECT|COLLNET_CHAIN|PAT)_(?:LL128|LL|SIMPLE))\b', 1
            ),
            ''
        ) AS algorithm,
        c.end_ns - c.start_ns AS ns,
        CASE WHEN w.is_told AND w.rank_count > 1 THEN w.wait_ns END AS wait_ns,
        CASE WHEN w.is_told AND w.rank_count > 1 AND w.is_last THEN w.duration_ns END AS transfer_ns
    FROM collective c
    JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = c.kernel_name_id
    LEFT JOIN rank_wait w
        ON w.run_id = run
        AND w.source_id = c.source_id
        AND w.pid = c.pid
        AND w.device_id = c.device_id
        AND w.own_start_ns = c.start_ns
        AND w.duration_ns = c.end_ns - c.start_ns
        AND w.family IS NOT DISTINCT FROM c.family
    LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = c.path_id
    WHERE c.run_id = run
        AND c.source_id IN (
            SELECT t.source_id
            FROM _timeline_having(
                run,
                ids := (SELECT list(DISTINCT x.source_id) FROM collective x WHERE x.run_id = run AND x.in_bytes + x.out_bytes > 0),
                source := source
            ) t
        )
        AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
), t AS (
    SELECT
        c.operation,
        c.group_name,
        CASE
            WHEN count(c.group_count) = count(*) AND min(c.group_count) = max(c.group_count) THEN min(c.group_count)
        END AS rank_count,
        c.bytes,
        c.algorithm,
        count(*) AS calls,
        sum(c.ns)::BIGINT AS total_ns,
        count(c.transfer_ns) AS transfers,
        sum(c.transfer_ns)::BIGINT AS transfer_ns,
        median(c.transfer_ns) AS transfer_median_ns,
        median(c.ns) AS median_ns,
        sum(c.wait_ns)::BIGINT AS wait_ns,
        count(c.wait_ns) AS matched,
        min(c.ns) AS min_ns,
        max(c.ns) AS max_ns
    FROM c
    GROUP BY c.operation, c.group_name, c.bytes, c.algorithm
)
SELECT
    t.operation,
    t.group_name AS "group",
    t.rank_count,
    t.bytes AS total_bytes,
    t.algorithm,
    t.calls,
    t.total_ns,
    t.bytes::DOUBLE
        * t.transfers
        / nullif(t.transfer_ns, 0)
        * 1e9
        * _bus_factor(t.operation, t.rank_count) AS bus_bytes_per_s,
    t.bytes::DOUBLE
        * t.calls
        / nullif(t.total_ns, 0)
        * 1e9
        * _bus_factor(t.operation, t.rank_count) AS own_bus_bytes_per_s,
    t.transfer_median_ns,
    t.median_ns,
    t.wait_ns,
    t.matched AS matched_count,
    t.min_ns,
    t.max_ns
FROM t
ORDER BY t.operation, t.group_name, t.bytes, t.algorithm
