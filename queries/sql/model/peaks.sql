-- peaks v1: Peak FLOP/s and memory bandwidth of the run's GPUs: the table's figure with its source, and the figure computed from SMs, clock
--     and memory in the capture.
-- grain: one device, resource and accumulate precision
-- key: device, resource, accumulate
-- notes: peak
-- params:
--   run VARCHAR: the run
-- columns:
--   device: device name as the driver gives it; (unknown) when the capture has none
--   resource: input precision (tensor_ for tensor cores), or dram; NULL when neither the table nor the capture knows the device. sparse_:
--     with structured sparsity, listed but used by no query
--   accumulate: accumulate precision; NULL for dram. If there are several, mfu uses a user's row, else the one that is not fp16
--   peak_flop_per_s: dense peak from the table device_peak; NULL when it has none: no query falls back to the computed peak
--   peak_bytes_per_s: memory bandwidth from the table; NULL unless dram
--   computed_flop_per_s: sm_count x clock_hz x sm_cycle_flop; NULL when one is not known
--   computed_bytes_per_s: memory bandwidth from the capture (memory clock x width); NULL unless dram
--   difference_ratio: difference between the two, as a share of the greater. Far from 0 where one of them belongs to another device
--   peak_clock_hz: SM clock at which the table's figure holds, from sm_count and sm_cycle_flop. Below clock_hz where datasheets state peaks
--     at a boost clock below the maximum: tensor peaks of an H200 at 1.83 of 1.98 GHz
--   sm_count: streaming multiprocessors; NULL when unknown, or when GPUs of the name differ
--   clock_hz: maximum SM clock in the capture; NULL when unknown, or when GPUs of the name differ
--   sm_cycle_flop: dense FLOP per SM and clock cycle, from the table sm_rate
--   compute_capability: e.g. 9.0
--   table_device: device name in the table, its own or that of an alias (device_alias)
--   origin: origin of the table's row: builtin or user
--   doc: clock or variant for which the table's figure holds, then why the alias is equivalent
--   reference: source of the table's figure
--   checked_on: date on which that source was read
--   computed_reference: source of sm_cycle_flop

WITH d AS (
    SELECT
        coalesce(dev.name, '(unknown)') AS device,
        CASE
            WHEN min(dev.compute_capability) = max(dev.compute_capability) THEN min(dev.compute_capability)
        END AS compute_capability,
        CASE WHEN min(dev.sm_count) = max(dev.sm_count) THEN min(dev.sm_count) END AS sm_count,
        CASE WHEN min(dev.clock_hz) = max(dev.clock_hz) THEN min(dev.clock_hz) END AS clock_hz,
        CASE
            WHEN min(dev.memory_bytes_per_s) = max(dev.memory_bytes_per_s) THEN min(dev.memory_bytes_per_s)::DOUBLE
        END AS memory_bytes_per_s
    FROM device dev
    WHERE dev.run_id = run
    GROUP BY dev.name
), p AS ( -- of rows for the same, in the order of _device-roof
    SELECT
        p.device,
        p.resource,
        p.accumulate,
        p.flop_per_s,
        p.bytes_per_s,
        p.origin,
        p.doc,
        p.reference,
        p.checked_on
    FROM device_peak p
    QUALIFY row_number() OVER (
            PARTITION BY p.device, p.resource, p.accumulate
            ORDER BY p.origin = 'builtin', p.checked_on DESC, p.flop_per_s DESC, p.bytes_per_s DESC, p.reference
        )
            = 1
), t AS (
    SELECT
        d.device,
        p.resource,
        p.accumulate,
        p.flop_per_s,
        p.bytes_per_s,
        n.device AS table_device,
        p.origin,
        concat_ws('; ', p.doc, n.alias_doc) AS doc,
        p.reference,
        p.checked_on
    FROM d
    JOIN _peak_name n ON n.name = d.device
    JOIN p ON p.device = n.device AND p.resource = n.resource
), rate AS ( -- a user's first, then the one of the very device
    SELECT
        d.device,
        r.resource,
        r.accumulate,
        r.flop_per_cycle,
        d.sm_count * d.clock_hz * r.flop_per_cycle AS flop_per_s,
        NULL::DOUBLE AS bytes_per_s,
        r.reference
    FROM d
    JOIN sm_rate r
        ON r.compute_capability = d.compute_capability
        AND (r.device IN ('', d.device) OR r.device IN (SELECT a.device FROM device_alias a WHERE a.alias = d.device))
    QUALIFY row_number() OVER (
            PARTITION BY d.device, r.resource, r.accumulate
            ORDER BY r.origin = 'builtin', r.device = '', r.device <> d.device, r.device, r.flop_per_cycle, r.reference
        )
            = 1
    UNION ALL
    SELECT d.device, 'dram', '', NULL, NULL, d.memory_bytes_per_s, NULL
    FROM d
    WHERE d.memory_bytes_per_s > 0
), x AS (
    SELECT
        coalesce(t.device, r.device) AS device,
        coalesce(t.resource, r.resource) AS resource,
        nullif(coalesce(t.accumulate, r.accumulate), '') AS accumulate,
        t.flop_per_s,
        t.bytes_per_s,
        r.flop_per_s AS computed_flop_per_s,
        r.bytes_per_s AS computed_bytes_per_s,
        r.flop_per_cycle,
        t.table_device,
        t.origin,
        t.doc,
        t.reference,
        t.checked_on,
        r.reference AS computed_reference
    FROM t
    FULL JOIN rate r ON r.device = t.device AND r.resource = t.resource AND r.accumulate = t.accumulate
)
SELECT
    d.device,
    x.resource,
    x.accumulate,
    x.flop_per_s AS peak_flop_per_s,
    x.bytes_per_s AS peak_bytes_per_s,
    x.computed_flop_per_s,
    x.computed_bytes_per_s,
    coalesce(
        abs(x.flop_per_s - x.computed_flop_per_s) / greatest(x.flop_per_s, x.computed_flop_per_s),
        abs(x.bytes_per_s - x.computed_bytes_per_s) / greatest(x.bytes_per_s, x.computed_bytes_per_s)
    ) AS difference_ratio,
    x.flop_per_s / nullif(d.sm_count * x.flop_per_cycle, 0) AS peak_clock_hz,
    d.sm_count,
    d.clock_hz,
    x.flop_per_cycle AS sm_cycle_flop,
    d.compute_capability,
    x.table_device,
    x.origin,
    x.doc,
    x.reference,
    x.checked_on::VARCHAR AS checked_on,
    x.computed_reference
FROM d LEFT JOIN x ON x.device = d.device
ORDER BY d.device, x.resource, x.accumulate
