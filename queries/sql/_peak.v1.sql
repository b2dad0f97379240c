-- _peak v1: What one GPU of a run can do at most in a precision, and how fast its memory is: by the table of dense peaks, unless said otherwise.
-- grain: one run
-- key: none
-- params:
--   run VARCHAR: the run
--   compute VARCHAR = NULL: precision of the matrices
--   peak DOUBLE = NULL: operations a second of one GPU, in place of the table's
--   bandwidth DOUBLE = NULL: bytes a second of one GPU's memory, in place of the table's
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   device: name of the GPU as the driver gives it; of several, joined; NULL when not known
--   device_count: names of GPUs, 0 when none is known
--   resource: row of device_peak that the precision means
--   peak_flop_per_s: dense operations a second of one GPU; NULL when not known
--   peak_bytes_per_s: bytes a second of its memory; NULL when not known
--   peak_origin: option, or the reference of the table's figure
--   known: precisions that the table has a peak of for the device

-- GPUs without work in a range do not count; where no range has any, those that ran kernels do.
WITH used AS (
    SELECT DISTINCT n.source_id, d.device_id FROM range_device d JOIN nvtx_range n ON n.run_id = d.run_id AND n.range_id = d.range_id
    WHERE d.run_id = _run_id_v1(run) AND n.source_id IN (SELECT t.source_id FROM _timeline_v1(run, source := source) t)
), named AS (
    SELECT DISTINCT d.name FROM device d JOIN used u ON u.source_id = d.source_id AND u.device_id = d.device_id
    WHERE d.run_id = _run_id_v1(run) AND d.name IS NOT NULL
), one AS (
    SELECT string_agg(n.name, ', ' ORDER BY n.name) AS device, count(*) AS device_count, coalesce(min(a.device), min(n.name)) AS row_name
    FROM named n LEFT JOIN device_alias a ON a.alias = n.name
), given AS ( -- by itself: a macro repeats what it is given
    SELECT compute AS name
), asked AS (
    SELECT CASE g.name WHEN 'fp64' THEN 'fp64' WHEN 'fp32' THEN 'fp32' WHEN 'tf32' THEN 'tensor_tf32' WHEN 'bf16' THEN 'tensor_bf16' WHEN 'fp16' THEN 'tensor_fp16' WHEN 'fp8' THEN 'tensor_fp8'
        WHEN 'int8' THEN 'tensor_int8' WHEN 'fp4' THEN 'tensor_fp4' ELSE CASE WHEN g.name IS NOT NULL THEN error('ARGUMENT: --compute is fp64, fp32, tf32, bf16, fp16, fp8, int8 or fp4') END END::VARCHAR AS resource
    FROM given g
)
SELECT o.device, o.device_count, a.resource, coalesce(CASE WHEN peak < 1e9 THEN error('ARGUMENT: --peak is in operations a second, e.g. 989.4T')::DOUBLE ELSE peak END, f.flop_per_s) AS peak_flop_per_s, coalesce(CASE WHEN bandwidth < 1e6 THEN error('ARGUMENT: --bandwidth is in bytes a second, e.g. 4.8T')::DOUBLE ELSE bandwidth END, b.bytes_per_s) AS peak_bytes_per_s,
    CASE WHEN peak IS NOT NULL THEN 'option' ELSE f.reference END AS peak_origin,
    (SELECT string_agg(replace(r.resource, 'tensor_', ''), ', ' ORDER BY r.resource) FROM _device_roof_v1 r WHERE o.device_count = 1 AND r.device = o.row_name AND starts_with(r.resource, 'tensor_')) AS known
FROM one o CROSS JOIN asked a
LEFT JOIN _device_roof_v1 f ON o.device_count = 1 AND f.device = o.row_name AND f.resource = a.resource
LEFT JOIN _device_roof_v1 b ON o.device_count = 1 AND b.device = o.row_name AND b.resource = 'dram'
