-- caveat_loss: Caveats about what the captures did not record.
-- into: caveat
-- needs: loss

WITH l AS (
    SELECT
        s.kind AS capture,
        coalesce(t.is_counted, false) AS is_counted,
        l.kind,
        l.stage,
        l.pid,
        l.item_count,
        l.time_ns,
        l.detail,
        CASE
            WHEN l.kind = 'replays-differ'
                OR row_number() OVER (PARTITION BY l.source_id, l.kind, l.stage ORDER BY l.pid, l.device_id) = 1
                THEN l.of_count
        END AS of_count -- that of a source once
    FROM loss l
    JOIN source s ON s.run_id = l.run_id AND s.source_id = l.source_id
    LEFT JOIN timeline t ON t.run_id = l.run_id AND t.source_id = l.source_id
    WHERE l.run_id = $run AND l.kind <> 'waited-for-unseen-work' -- caveat_unseen has words for that
), pass AS (
    SELECT
        t.kind AS capture,
        p.is_counted,
        p.stage,
        count(*) AS n,
        count(*) FILTER (p.lost_count > 0) AS lost
    FROM stage_pass p JOIN timeline t ON t.run_id = p.run_id AND t.source_id = p.source_id
    WHERE p.run_id = $run AND NOT p.is_warmup
    GROUP BY ALL
)
SELECT
    'launch' AS topic,
    l.kind,
    l.capture,
    l.is_counted,
    l.stage,
    string_agg(DISTINCT l.pid::VARCHAR, ' ' ORDER BY l.pid::VARCHAR) AS subject,
    l.detail,
    sum(l.item_count)::BIGINT AS item_count,
    sum(l.of_count)::BIGINT AS of_count,
    sum(l.time_ns)::DOUBLE AS time_ns
FROM l
GROUP BY l.kind, l.capture, l.is_counted, l.stage, l.detail
UNION ALL BY NAME
SELECT
    'launch' AS topic,
    'passes-not-whole' AS kind,
    p.capture,
    p.is_counted,
    p.stage,
    p.lost AS item_count,
    p.n AS of_count
FROM pass p
WHERE p.lost > 0
