-- _idle-time: The idle times of a run, with a column for each cause, and for each part of causes that have several.
-- grain: one range on one GPU, or one source on one GPU
-- key: source_id, device_id, range_id
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: the source
--   device_id: GPU
--   range_id: the range whose device work is meant; 0: all device work of the source
--   idle_ns: idle time
{{- range .Causes}}
--   {{.Column}}: idle, {{.Meaning}}
{{- end}}
{{- range .Split}}
--   {{.Column}}: idle, {{.Meaning}}
{{- end}}

SELECT
    i.source_id,
    i.device_id,
    coalesce(i.range_id, 0) AS range_id,
    sum(i.ns)::BIGINT AS idle_ns {{- range .Causes}},
    coalesce(sum(CASE WHEN s.kind = {{quote .Name}} THEN i.ns END), 0)::BIGINT AS {{.Column}}{{end}} {{- range .Split}},
    coalesce(sum(CASE WHEN i.part = {{quote .Name}} THEN i.ns END), 0)::BIGINT AS {{.Column}}{{end}}
FROM idle_part i JOIN stage_part s ON s.part = i.part
WHERE i.run_id = run
GROUP BY i.source_id, i.device_id, coalesce(i.range_id, 0)
