-- ncu-balance v1: How evenly profiled launches load the units of the GPU: cycles that the least and the most loaded SM, L1, L2 slice and
--     DRAM channel are active.
-- grain: one kind of unit in one profiled launch
-- key: launch, unit
-- notes: ncu
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   launch BIGINT = NULL: only this launch
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
--   top BIGINT = 0: maximum launches, those with the least balanced SMs, or L1 caches where the report has no SMs; 0 for all
-- columns:
--   launch: launch number in the run; in a run with one report, ncu's ID
--   kernel: kernel name as Nsight Compute spells it
--   unit: kind of unit: sm, smsp (sub-partition of an SM), l1, l2 (slice) or dram (channel)
--   balance_ratio: mean over maximum of the cycles active: 1 when every unit works equally long, 0.5 when units are idle half the time that
--     the busiest works
--   mean_cycles: cycles active, mean over the units
--   min_cycles: cycles active of the least loaded unit
--   max_cycles: cycles active of the most loaded unit
--   grid: grid size in blocks, x * y * z
--   block: block size in threads, x * y * z
--   waves: full waves of blocks over all SMs

WITH unit AS (
    SELECT u.unit, u.prefix
    FROM (
        VALUES ('sm', 'sm__cycles_active'), ('smsp', 'smsp__cycles_active'), ('l1', 'l1tex__cycles_active'),
            ('l2', 'lts__cycles_active'), ('dram', 'dram__cycles_active')
    ) u(unit, prefix)
), active AS (
    SELECT
        m.launch_id,
        u.unit,
        max(m.value) FILTER (n.name = u.prefix || '.avg') AS mean_cycles,
        max(m.value) FILTER (n.name = u.prefix || '.min') AS min_cycles,
        max(m.value) FILTER (n.name = u.prefix || '.max') AS max_cycles
    FROM ncu_metric m
    JOIN ncu_metric_name n ON n.run_id = m.run_id AND n.metric_id = m.metric_id
    JOIN unit u ON n.name IN (u.prefix || '.avg', u.prefix || '.min', u.prefix || '.max')
    WHERE m.run_id = run
    GROUP BY m.launch_id, u.unit
), r AS (
    SELECT
        l.launch_id,
        n.name AS kernel,
        a.unit,
        a.mean_cycles / nullif(a.max_cycles, 0) AS balance_ratio,
        a.mean_cycles,
        a.min_cycles,
        a.max_cycles,
        l.grid,
        l.block,
        l.waves
    FROM active a
    JOIN ncu_measure l ON l.run_id = run AND l.launch_id = a.launch_id
    JOIN kernel_name n ON n.run_id = l.run_id AND n.kernel_name_id = l.kernel_name_id
    WHERE (launch IS NULL OR _id_number(l.launch_id) - 1 = launch)
        AND (kernel IS NULL OR contains(lower(n.name), lower(kernel)))
        AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
        AND a.mean_cycles IS NOT NULL
        AND a.max_cycles IS NOT NULL
), placed AS (
    SELECT
        r.launch_id,
        dense_rank() OVER (
            ORDER BY coalesce(
                    min(r.balance_ratio) FILTER (r.unit = 'sm'),
                    min(r.balance_ratio) FILTER (r.unit = 'smsp'),
                    min(r.balance_ratio) FILTER (r.unit = 'l1'),
                    min(r.balance_ratio)
                ) NULLS LAST, r.launch_id
        ) AS place
    FROM r
    GROUP BY r.launch_id
)
SELECT
    _id_number(r.launch_id) - 1 AS launch,
    r.kernel,
    r.unit,
    r.balance_ratio,
    r.mean_cycles,
    r.min_cycles,
    r.max_cycles,
    r.grid,
    r.block,
    r.waves
FROM r JOIN placed p ON p.launch_id = r.launch_id
WHERE top = 0 OR p.place <= top
ORDER BY r.launch_id, array_position(['sm', 'smsp', 'l1', 'l2', 'dram'], r.unit)
