-- _condition_machine: The hardware of each run: GPUs and their settings.
-- grain: one statement about an aspect of a run
-- key: run_id, aspect, value
-- columns:
--   run_id UUID: the run
--   source_id INTEGER: the source that says it; NULL when it follows from several
--   priority INTEGER: of several statements about an aspect those of the lowest number hold
--   aspect VARCHAR: what is told of
--   value VARCHAR: what is said of it; NULL when nothing is
--   weight VARCHAR: decides, clouds or tells, as in run-conditions

SELECT x.run_id, x.source_id, x.priority, x.aspect, x.value, x.weight
FROM (
    WITH gpu AS (
        SELECT g.run_id, g.name, count(DISTINCT g.gpu) AS gpu_count, string_agg(DISTINCT g.sm_count::VARCHAR, ', ' ORDER BY g.sm_count::VARCHAR) AS sms, string_agg(DISTINCT format('{:.0f} MHz', g.max_clock_hz / 1e6), ', ' ORDER BY format('{:.0f} MHz', g.max_clock_hz / 1e6)) AS clocks,
            string_agg(DISTINCT CASE WHEN g.is_mig THEN 'on' WHEN NOT g.is_mig THEN 'off' END, ', ') AS mig, string_agg(DISTINCT CASE WHEN g.is_ecc THEN 'on' WHEN NOT g.is_ecc THEN 'off' END, ', ') AS ecc,
            string_agg(DISTINCT format('{:.0f} W', g.power_limit_w), ', ' ORDER BY format('{:.0f} W', g.power_limit_w)) AS power, string_agg(DISTINCT replace(g.uuid, 'GPU-', ''), ', ' ORDER BY replace(g.uuid, 'GPU-', '')) AS uuids
        FROM _condition_gpu g
        GROUP BY g.run_id, g.name
    )
    SELECT DISTINCT g.run_id, NULL::INTEGER AS source_id, 0 AS priority, unnest([
        {'aspect': 'GPU', 'value': CASE g.gpu_count WHEN 1 THEN '' ELSE g.gpu_count || ' x ' END || g.name, 'weight': 'decides'},
        {'aspect': 'SMs', 'value': g.sms, 'weight': 'decides'}, {'aspect': 'maximum SM clock', 'value': g.clocks, 'weight': 'decides'}, {'aspect': 'MIG', 'value': g.mig, 'weight': 'decides'},
        {'aspect': 'power limit', 'value': g.power, 'weight': 'clouds'}, {'aspect': 'ECC', 'value': g.ecc, 'weight': 'clouds'}, {'aspect': 'GPU UUID', 'value': g.uuids, 'weight': 'tells'}], recursive := true)
    FROM gpu g
) x
WHERE x.run_id = $run
