-- caveat_loss: Caveats about data that tools and importers lost, as they say themselves.
-- into: caveat
-- needs: diagnostic

SELECT 'timelines' AS topic, 'tool-lost-data' AS kind, s.kind AS capture, coalesce(t.is_counted, true) AS is_counted, l.cause AS subject, coalesce(s.tool_version, '') AS object, sum(l.item_count)::BIGINT AS item_count
FROM _tool_loss l JOIN source s ON s.run_id = $run AND s.source_id = l.source_id LEFT JOIN timeline t ON t.run_id = $run AND t.source_id = l.source_id GROUP BY s.kind, t.is_counted, l.cause, s.tool_version
