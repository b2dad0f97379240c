-- _note-plan: Kernels that Nsight Compute could not be asked for exactly, of those that take the most time.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   top BIGINT = 10: kernels that are looked at; 0 for all
-- columns:
--   note: the sentence

WITH spent AS ( -- by name first: a run has millions of kernels of a hundred names
    SELECT k.kernel_name_id, sum(k.duration_ns) AS ns FROM kernel k
    WHERE k.run_id = run AND k.source_id IN (SELECT s.source_id FROM source s WHERE s.run_id = run AND s.kind = 'nsys')
    GROUP BY k.kernel_name_id
), named AS (
    SELECT n.short_name, row_number() OVER (ORDER BY x.ns DESC, n.name) AS place, (SELECT count(*) FROM kernel_symbol y WHERE y.run_id = run AND y.kernel_name_id = x.kernel_name_id) AS symbols
    FROM spent x JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = x.kernel_name_id
), lacking AS (
    SELECT n.symbols = 0 AS is_nameless, count(*) AS kernels, list(DISTINCT n.short_name ORDER BY n.short_name) AS names
    FROM named n WHERE n.symbols <> 1 AND (top = 0 OR n.place <= top) GROUP BY ALL
)
SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM kernel_symbol y WHERE y.run_id = run) THEN 'the capture does not tell symbols of kernels, or was stored by a prof that did not keep them: ingest it again with --replace'
    ELSE format('{} kernels of the most time are left out, since {}: {}', l.kernels, CASE WHEN l.is_nameless THEN 'their symbols are not known' ELSE 'several functions have their name, and which of them was launched is not known' END,
        array_to_string(l.names[:3], ', ') || CASE WHEN len(l.names) > 3 THEN ', ...' ELSE '' END) END AS note
FROM lacking l
UNION ALL
SELECT 'the run has no timeline of Nsight Systems to plan by' WHERE NOT EXISTS (SELECT 1 FROM source s WHERE s.run_id = run AND s.kind = 'nsys') AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = run)
