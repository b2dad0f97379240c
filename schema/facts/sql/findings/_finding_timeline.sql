-- _finding_timeline: The sources whose device work findings are about, and whether only that of measured passes is meant: of a kind of
--     timeline that has none all its work counts.
-- grain: one source
-- key: source_id
-- needs: device_time
-- columns:
--   source_id INTEGER: the source
--   kind VARCHAR: {timelines}
--   is_counted BOOLEAN: as in timeline
--   is_staged BOOLEAN: whether there are measured passes

SELECT
    t.source_id,
    t.kind,
    t.is_counted,
    EXISTS (SELECT 1 FROM _finding_pass p WHERE p.kind = t.kind) AS is_staged
FROM timeline t
WHERE t.run_id = $run
