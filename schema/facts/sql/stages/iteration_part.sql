-- iteration_part: Parts of the iterations of a process on a GPU, warm-up excluded, between changes of load: of decode batch or step time.
-- grain: one part
-- key: source_id, pid, device_id, part
-- needs: _part_row
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when its launches were not captured
--   device_id INTEGER: GPU; NULL without device work
--   part BIGINT: part number in time order, from 1
--   first_nth BIGINT: number of its first iteration, as in iteration

SELECT
    p.source_id,
    p.pid,
    p.device_id,
    row_number() OVER (PARTITION BY p.source_id, p.pid, p.device_id ORDER BY p.first_nth) AS part,
    p.first_nth
FROM _part_row p
