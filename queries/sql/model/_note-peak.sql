-- _note-peak: Devices of a run that the table of dense peaks does not have, and what to do about it.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

WITH d AS (
    SELECT DISTINCT dev.name FROM device dev WHERE dev.run_id = run
), p AS (
    SELECT DISTINCT p.device FROM device_peak p
), near AS ( -- the vendor's name is of no help
    SELECT d.name, array_to_string(arg_min(p.device, (levenshtein(replace(lower(d.name), 'nvidia ', ''), replace(lower(p.device), 'nvidia ', '')), p.device), 3), ', ') AS names
    FROM d CROSS JOIN p GROUP BY d.name
)
SELECT CASE WHEN d.name IS NULL THEN 'the capture does not say which GPU it is of: give mfu and mbu --peak and --bandwidth'
    ELSE format('{} is not in device_peak, its peaks are not known: give mfu and mbu --peak and --bandwidth, or add a row with any DuckDB client: INSERT INTO device_peak VALUES (''user'', ''{}'', ''tensor_bf16'', ''fp32'', FLOP_PER_S, NULL, ''variant'', ''source'', DATE ''2026-01-31''); the nearest names are {}: for one of the same figures INSERT INTO device_alias VALUES (''user'', ''{}'', ''ITS NAME'', ''why'')',
        d.name, replace(d.name, '''', ''''''), coalesce(near.names, '(none)'), replace(d.name, '''', '''''')) END AS note
FROM d LEFT JOIN near ON near.name = d.name
WHERE d.name IS NULL OR NOT EXISTS (SELECT 1 FROM _peak_name n WHERE n.name = d.name)
