-- _caveat-peak: GPUs of a run without a row in the table of dense peaks; users can add rows at any time.
-- grain: one caveat, as in the table caveat
-- key: kind, subject
-- params:
--   run VARCHAR: the run
-- columns:
--   kind: what it says
--   subject: what it is about
--   object: what else it names

WITH d AS (
    SELECT DISTINCT dev.name
    FROM device dev
    WHERE dev.run_id = run AND (dev.name IS NULL OR NOT EXISTS (SELECT 1 FROM _peak_name n WHERE n.name = dev.name))
    UNION
    SELECT NULL -- of a GPU of which the capture has nothing but its work
    FROM run r
    WHERE r.run_id = run
        AND EXISTS (SELECT 1 FROM kernel_duration k WHERE k.run_id = run)
        AND NOT EXISTS (SELECT 1 FROM device x WHERE x.run_id = run)
), p AS (
    SELECT DISTINCT p.device
    FROM device_peak p
), near AS ( -- of the same maker and class alone: the letters that the name begins with, as H of H100; NVIDIA's own name is of no help
    SELECT
        d.name,
        array_to_string(
            arg_min(
                p.device,
                (levenshtein(replace(lower(d.name), 'nvidia ', ''), replace(lower(p.device), 'nvidia ', '')), p.device),
                3
            ),
            ', '
        ) AS names
    FROM d
    JOIN p ON
        regexp_extract(lower(d.name), '^(?:nvidia )?([a-z]+)', 1) = regexp_extract(lower(p.device), '^(?:nvidia )?([a-z]+)', 1)
    GROUP BY d.name
)
SELECT
    CASE WHEN d.name IS NULL THEN 'gpu-without-name' ELSE 'gpu-without-peak' END AS kind,
    d.name AS subject,
    near.names AS object
FROM d LEFT JOIN near ON near.name = d.name
