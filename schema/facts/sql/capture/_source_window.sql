-- _source_window: Which timeline sources are windows of one session, as nsys --capture-range-end=repeat makes a report of each. A process
--     has one series of passes in them.
-- grain: one timeline source
-- key: source_id
-- needs: source_fact
-- columns:
--   source_id INTEGER: the source
--   series_id INTEGER: the first source of its session; itself where it is the only one
--   begin_ns BIGINT: start of the source, from the start of the first

WITH s AS (
    SELECT
        t.source_id,
        t.kind,
        x.started_at,
        x.host,
        f.value AS session
    FROM timeline t
    JOIN source x ON x.run_id = t.run_id AND x.source_id = t.source_id
    JOIN source_fact f ON f.run_id = t.run_id AND f.source_id = t.source_id AND f.key = 'capture.id'
    WHERE t.run_id = $run AND t.kind IN ({'callers'}) AND x.started_at IS NOT NULL
)
SELECT
    s.source_id,
    first_value(s.source_id) OVER w AS series_id,
    epoch_ns(s.started_at) - epoch_ns(first_value(s.started_at) OVER w) AS begin_ns
FROM s
WINDOW w AS (PARTITION BY s.kind, s.session, s.host ORDER BY s.started_at, s.source_id)
