-- _finding_collective: How long collectives ran in the passes that findings are about: alone, or while other kernels of the pass ran too.
-- grain: one pass on one GPU, or one source on one GPU
-- key: source_id, range_id, device_id
-- needs: device_time kernel
-- columns:
--   kind VARCHAR: nsys or torch
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   source_id INTEGER: the source
--   range_id BIGINT: the pass; NULL likewise
--   device_id INTEGER: GPU
--   collective_count BIGINT: collectives
--   collective_ns BIGINT: union of their intervals
--   exposed_ns BIGINT: the part of it in which no other kernel ran

SELECT p.kind, p.stage, p.source_id, p.range_id, p.device_id, c.collective_count, c.collective_ns, c.exposed_ns
FROM _finding_part p
JOIN (FROM _collective_time($run, source := 'nsys') UNION ALL FROM _collective_time($run, source := 'torch')) c
    ON c.source_id = p.source_id AND c.device_id = p.device_id AND c.range_id IS NOT DISTINCT FROM p.range_id
