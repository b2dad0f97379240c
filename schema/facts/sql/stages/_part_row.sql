-- _part_row: Where ingest/steady cuts the iterations of a process on a GPU.
-- grain: one part
-- key: source_id, pid, device_id, first_nth
-- needs: iteration
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when its launches were not captured
--   device_id INTEGER: GPU; NULL without device work
--   first_nth BIGINT: number of its first iteration

SELECT
    v[1]::INTEGER AS source_id,
    nullif(v[2], '')::INTEGER AS pid,
    nullif(v[3], '')::INTEGER AS device_id,
    v[4]::BIGINT AS first_nth
FROM (SELECT string_split(unnest(string_split($parts, chr(30))), chr(31)) AS v)
WHERE len(v) > 1
