-- _peak: What one GPU of a run can do at most in a precision, and how fast its memory is: by the table of dense peaks, unless said otherwise.
-- grain: one run
-- key: none
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   compute VARCHAR = NULL: precision of the matrices
--   peak DOUBLE = NULL: operations a second of one GPU, in place of the table's
--   bandwidth DOUBLE = NULL: bytes a second of one GPU's memory, in place of the table's
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   device: name of the GPU as the driver gives it, (unknown) where the capture does not say; of several kinds, joined; NULL when none worked
--   device_count: names of GPUs, 0 when none is known
--   resource: row of device_peak that the precision means
--   peak_flop_per_s: dense operations a second of one GPU; NULL when not known
--   peak_bytes_per_s: bytes a second of its memory; NULL when not known
--   peak_origin: option, or the reference of the table's figure
--   known: precisions that the table has a peak of for the device

-- GPUs without work in a range of the timeline do not count.
WITH used AS (
    SELECT DISTINCT n.source_id, d.device_id FROM range_device d JOIN nvtx_range n ON n.run_id = d.run_id AND n.range_id = d.range_id
    WHERE d.run_id = run AND n.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND (device IS NULL OR d.device_id = device)
), named AS (
    SELECT DISTINCT coalesce(d.name, '(unknown)') AS name
    FROM used u LEFT JOIN device d ON d.run_id = run AND d.source_id = u.source_id AND d.device_id = u.device_id
), one AS (
    SELECT string_agg(n.name, ', ' ORDER BY n.name) AS device, count(*) AS device_count FROM named n
), look AS (
    SELECT r.resource, r.flop_per_s, r.bytes_per_s, r.reference
    FROM one o JOIN _device_roof r ON o.device_count = 1 AND r.name = o.device
), given AS ( -- by itself: a macro repeats what it is given
    SELECT compute AS name
), asked AS (
    SELECT CASE WHEN g.name IN ('tf32', 'bf16', 'fp16', 'fp8', 'int8', 'fp4') THEN 'tensor_' || g.name WHEN g.name = 'fp32' THEN g.name
        WHEN g.name = 'fp64' THEN coalesce((SELECT l.resource FROM look l WHERE l.resource = 'tensor_fp64'), 'fp64')
        WHEN g.name IS NOT NULL THEN error('ARGUMENT: --compute is fp64, fp32, tf32, bf16, fp16, fp8, int8 or fp4') END::VARCHAR AS resource
    FROM given g
), told AS (
    SELECT CASE WHEN peak < 1e9 THEN error('ARGUMENT: --peak is in operations a second, e.g. 989.4T')::DOUBLE ELSE peak END AS flop_per_s,
        CASE WHEN bandwidth < 1e6 THEN error('ARGUMENT: --bandwidth is in bytes a second, e.g. 4.8T')::DOUBLE ELSE bandwidth END AS bytes_per_s
)
SELECT o.device, o.device_count, a.resource, coalesce(t.flop_per_s, f.flop_per_s) AS peak_flop_per_s, coalesce(t.bytes_per_s, b.bytes_per_s) AS peak_bytes_per_s,
    CASE WHEN t.flop_per_s IS NOT NULL THEN 'option' ELSE f.reference END AS peak_origin,
    (SELECT string_agg(DISTINCT replace(l.resource, 'tensor_', ''), ', ' ORDER BY replace(l.resource, 'tensor_', '')) FROM look l WHERE starts_with(l.resource, 'tensor_') OR l.resource = 'fp32') AS known
FROM one o CROSS JOIN asked a CROSS JOIN told t JOIN run r ON r.run_id = run
LEFT JOIN look f ON f.resource = a.resource
LEFT JOIN look b ON b.resource = 'dram'
