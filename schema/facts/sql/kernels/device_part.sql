-- device_part: GPU time in each stage pass and in each whole source, in disjoint parts that add up to it with those of idle_part, with
--     kernel time split by collectives.
-- grain: one pass on one GPU with its work, unless some of it is lost, or one source on one GPU
-- key: range_id, source_id, device_id
-- needs: device_time
-- columns:
--   stage VARCHAR: the stage; (run) for the whole of the source
--   pass_id BIGINT: pass number within the stage, source and process, from 1; NULL for (run)
--   range_id BIGINT: the range of the pass; NULL for (run)
--   source_id INTEGER: the source
--   pid INTEGER: process of the pass; NULL for (run)
--   is_warmup BOOLEAN: whether the pass is warm-up
--   device_id INTEGER: GPU
--   start_ns BIGINT: start of its first device work, from the start of the source
--   span_ns BIGINT: GPU span: first start to last end of its device work; the sum of the parts, idle_part included
--   collective_count BIGINT: collectives it launched
--   compute_ns BIGINT: kernels of the pass other than collectives ran, and no collective of the pass
--   collective_overlapped_ns BIGINT: a collective and another kernel of the pass ran
--   collective_exposed_ns BIGINT: a collective of the pass ran, and no other kernel of the pass
--   graph_ns BIGINT: as in device_time, like all columns below
--   copy_ns BIGINT: copies and fills
--   other_ns BIGINT: only work of other ranges ran
--   gap_count BIGINT: idle gaps

SELECT
    CASE WHEN d.range_id IS NULL THEN '(run)' ELSE p.stage END AS stage,
    p.pass_id,
    d.range_id,
    d.source_id,
    p.pid,
    coalesce(p.is_warmup, false) AS is_warmup,
    d.device_id,
    d.start_ns,
    d.end_ns - d.start_ns AS span_ns,
    coalesce(c.collective_count, 0) AS collective_count,
    d.kernel_ns - coalesce(c.collective_ns, 0) AS compute_ns,
    coalesce(c.overlapped_ns, 0) AS collective_overlapped_ns,
    coalesce(c.exposed_ns, 0) AS collective_exposed_ns,
    d.graph_ns,
    d.copy_ns,
    d.other_ns,
    d.gap_count
FROM device_time d
JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id
LEFT JOIN stage_pass p ON p.run_id = d.run_id AND p.range_id = d.range_id
LEFT JOIN _collective_time c
    ON c.source_id = d.source_id AND c.device_id = d.device_id AND c.range_id = coalesce(d.range_id, 0)
WHERE d.run_id = $run AND (d.range_id IS NULL OR p.lost_count = 0)
