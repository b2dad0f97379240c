-- _peak: Dense peak and memory bandwidth of one GPU of a run in a precision: from device_peak, unless given by option.
-- grain: one run
-- key: none
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   compute VARCHAR = NULL: precision of matrix products
--   peak DOUBLE = NULL: peak FLOP/s of one GPU, instead of the table's
--   bandwidth DOUBLE = NULL: memory bandwidth of one GPU in bytes/s, instead of the table's
--   {source}
-- columns:
--   device: GPU name as the driver gives it, several joined; (unknown) when the capture has none; NULL when no GPU worked
--   device_count: number of GPU names; 0 when none is known
--   resource: row of device_peak for the precision; NULL without one
--   peak_flop_per_s: dense peak of one GPU; NULL when unknown
--   peak_bytes_per_s: memory bandwidth of one GPU; NULL when unknown
--   peak_origin: option, or the source of the table's figure
--   known: precisions for which the table has a peak of the device

-- GPUs without work in a measured pass do not count.
WITH one AS (
    SELECT
        string_agg(DISTINCT t.gpu, ', ' ORDER BY t.gpu) AS device,
        count(DISTINCT t.gpu) AS device_count
    FROM pass_time t
    WHERE t.run_id = run
        AND t.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR t.device_id = device)
), asked AS ( -- by itself: a macro repeats what it is given
    SELECT
        CASE
            WHEN g.name IS NULL OR g.name IN ('fp64', 'fp32', 'tf32', 'bf16', 'fp16', 'fp8', 'int8', 'fp4') THEN g.name
            ELSE error('ARGUMENT: --compute is fp64, fp32, tf32, bf16, fp16, fp8, int8 or fp4')
        END AS name,
        CASE
            WHEN peak < 1e9 THEN error('ARGUMENT: --peak is in operations a second, e.g. 989.4T')::DOUBLE
            ELSE peak
        END AS flop_per_s,
        CASE
            WHEN bandwidth < 1e6 THEN error('ARGUMENT: --bandwidth is in bytes a second, e.g. 4.8T')::DOUBLE
            ELSE bandwidth
        END AS bytes_per_s
    FROM (SELECT compute AS name) g
), x AS (
    SELECT
        o.device,
        o.device_count,
        a.flop_per_s,
        a.bytes_per_s,
        r.resource,
        r.flop_per_s AS table_flop_per_s,
        r.bytes_per_s AS table_bytes_per_s,
        r.reference,
        r.resource = 'tensor_' || a.name OR r.resource = a.name AND a.name IN ('fp32', 'fp64') AS is_asked
    FROM one o
    CROSS JOIN asked a
    LEFT JOIN _device_roof r ON o.device_count = 1 AND r.name = o.device
)
SELECT
    x.device,
    x.device_count,
    max(x.resource) FILTER (x.is_asked) AS resource,
    coalesce(x.flop_per_s, arg_max(x.table_flop_per_s, x.resource) FILTER (x.is_asked)) AS peak_flop_per_s, -- tensor_fp64 before fp64
    coalesce(x.bytes_per_s, max(x.table_bytes_per_s)) AS peak_bytes_per_s,
    CASE
        WHEN x.flop_per_s IS NOT NULL THEN 'option'
        ELSE arg_max(x.reference, x.resource) FILTER (x.is_asked)
    END AS peak_origin,
    string_agg(replace(x.resource, 'tensor_', ''), ', ' ORDER BY replace(x.resource, 'tensor_', '')) FILTER (
        starts_with(x.resource, 'tensor_') OR x.resource = 'fp32'
    ) AS known
FROM x
GROUP BY x.device, x.device_count, x.flop_per_s, x.bytes_per_s
