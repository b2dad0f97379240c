-- timeline: The timeline sources of a run, and sums reported in place of one, and whether each is counted. A run may have the same work
--     more than once, captured by Nsight Systems, by prof's own tracer and by the PyTorch profiler: no sum may include two of them.
-- grain: one source
-- key: source_id
-- columns:
--   source_id INTEGER: the source
--   kind VARCHAR: {timelines} (sums without a timeline; not those of OS calls next to a timeline)
--   is_counted BOOLEAN: whether it is the default kind: the first of {timelines} that the run has; GPU work that nsys stats lists, PyTorch
--     traces without GPU work and PyTorch's tables come last

WITH s AS (
    SELECT
        x.source_id,
        x.kind,
        CASE
            WHEN x.form = 'nsys-gpu-trace' THEN 101
            WHEN x.form = 'torch-averages' THEN 103
            WHEN x.kind = 'torch'
                AND NOT EXISTS (
                    SELECT 1
                    FROM kernel k
                    WHERE k.run_id = $run AND k.source_id = x.source_id
                )
                AND NOT EXISTS (
                    SELECT 1
                    FROM memop m
                    WHERE m.run_id = $run AND m.source_id = x.source_id
                )
                AND NOT EXISTS (
                    SELECT 1
                    FROM graph_launch g
                    WHERE g.run_id = $run AND g.source_id = x.source_id
                )
                THEN 102
            ELSE array_position([{'timelines'}], x.kind)
        END AS place,
        x.kind = 'nsys-stats'
        AND NOT EXISTS (
            SELECT 1
            FROM reported_sum r
            WHERE r.run_id = $run AND r.source_id = x.source_id AND r.report <> 'osrt_call'
        ) AS is_osrt
    FROM source x
    WHERE x.run_id = $run AND x.kind IN ({'timelines'})
), kept AS (
    SELECT s.source_id, s.kind, s.place
    FROM s
    WHERE NOT s.is_osrt OR NOT EXISTS (SELECT 1 FROM s x WHERE NOT x.is_osrt)
)
SELECT
    k.source_id,
    k.kind,
    k.kind = (SELECT arg_min(x.kind, x.place) FROM kept x) AS is_counted
FROM kept k
