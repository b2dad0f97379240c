-- _condition_machine: The hardware of a run: the GPUs that its counted work ran on and their settings; of a run without a timeline those of
--     Nsight Compute.
-- grain: one statement about an aspect of a GPU
-- key: aspect, value
-- needs: device
-- columns:
--   source_id INTEGER: the source that says it; NULL when it follows from several
--   priority INTEGER: of several statements about an aspect those of the lowest number hold
--   aspect VARCHAR: what it is about
--   value VARCHAR: what is said of it; NULL when nothing is
--   weight VARCHAR: decides, clouds or tells, as in run-conditions

-- Where none of the GPUs that a source lists has work, as where a trace numbers them in two ways, all of them may have.
WITH gpu AS (
    SELECT
        coalesce(d.name, c.name) AS name,
        coalesce(d.uuid, d.device_id // 1000 || ' ' || d.bus_id, coalesce(s.rank_id, 0) || ':' || d.device_id) AS gpu,
        replace(d.uuid, 'GPU-', '') AS uuid,
        d.sm_count,
        coalesce(d.clock_hz, c.max_sm_clock_hz) AS max_clock_hz,
        c.power_limit_w,
        c.is_ecc,
        c.is_mig
    FROM source s
    JOIN device d ON d.run_id = s.run_id AND d.source_id = s.source_id
    LEFT JOIN device_time t
        ON t.run_id = d.run_id AND t.source_id = d.source_id AND t.device_id = d.device_id AND t.range_id IS NULL
    LEFT JOIN capture_device c ON c.run_id = d.run_id AND replace(c.uuid, 'GPU-', '') = replace(d.uuid, 'GPU-', '')
    WHERE s.run_id = $run AND s.kind IN ({'gpus'})
    QUALIFY array_position([{'gpus'}], s.kind) = min(array_position([{'gpus'}], s.kind)) OVER (PARTITION BY s.run_id)
        AND (t.device_id IS NOT NULL) = bool_or(t.device_id IS NOT NULL) OVER (PARTITION BY s.source_id)
)
SELECT
    NULL AS source_id,
    0 AS priority,
    unnest(
        [
            {
                'aspect': 'GPU',
                'value': CASE g.gpus WHEN 1 THEN '' ELSE g.gpus || ' x ' END || g.name,
                'weight': 'decides'
            },
            {'aspect': 'SMs', 'value': g.sm_count::VARCHAR, 'weight': 'decides'},
            {'aspect': 'maximum SM clock', 'value': format('{:.0f} MHz', g.max_clock_hz / 1e6), 'weight': 'decides'},
            {
                'aspect': 'MIG',
                'value': CASE WHEN g.is_mig THEN 'on' WHEN NOT g.is_mig THEN 'off' END,
                'weight': 'decides'
            },
            {'aspect': 'power limit', 'value': format('{:.0f} W', g.power_limit_w), 'weight': 'clouds'},
            {
                'aspect': 'ECC',
                'value': CASE WHEN g.is_ecc THEN 'on' WHEN NOT g.is_ecc THEN 'off' END,
                'weight': 'clouds'
            },
            {'aspect': 'GPU UUID', 'value': g.uuid, 'weight': 'tells'}
        ],
        recursive := true
    )
FROM (
    SELECT
        g.name,
        g.uuid,
        g.sm_count,
        g.max_clock_hz,
        g.power_limit_w,
        g.is_ecc,
        g.is_mig,
        count(DISTINCT g.gpu) OVER (PARTITION BY g.name) AS gpus
    FROM gpu g
) g
