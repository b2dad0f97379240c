-- timeline-matches v1: Where on the timeline kernels of a name run: their launches by bins of time.
-- grain: one source, GPU and time bin
-- key: source_id, device, start_ns
-- notes: graph
-- params:
--   run VARCHAR: the run
--   name VARCHAR = NULL: text in the name, in upper or lower case; default: all kernels
--   bins BIGINT = 1000: time bins of equal length from the first start to the last start of a kernel of the source, at least 1
--   {source}
-- columns:
--   source_id: the source
--   device: GPU
--   start_ns: start of the first of them in the bin, from the start of the source
--   end_ns: end of the last to end
--   calls: how many start in the bin
--   total_ns: sum of their durations

WITH named AS (
    SELECT n.kernel_name_id
    FROM kernel_name n
    WHERE n.run_id = run AND (name IS NULL OR contains(lower(n.name), lower(name)))
), found AS (
    SELECT k.source_id, k.device_id, k.start_ns, k.duration_ns
    FROM kernel k SEMI JOIN named n ON n.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = run AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), whole AS (
    SELECT
        d.source_id,
        min(d.start_ns) AS start_ns,
        (max(d.end_ns) - min(d.start_ns)) // any_value(greatest(bins, 1)) + 1 AS bin_ns
    FROM device_time d
    WHERE d.run_id = run AND d.range_id IS NULL
    GROUP BY d.source_id
)
SELECT
    f.source_id,
    f.device_id AS device,
    min(f.start_ns) AS start_ns,
    max(f.start_ns + f.duration_ns) AS end_ns,
    count(*) AS calls,
    sum(f.duration_ns)::BIGINT AS total_ns
FROM found f JOIN whole w ON w.source_id = f.source_id
GROUP BY f.source_id, f.device_id, (f.start_ns - w.start_ns) // w.bin_ns
ORDER BY f.source_id, f.device_id, start_ns
