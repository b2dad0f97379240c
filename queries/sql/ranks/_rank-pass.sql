-- _rank-pass: Each matched collective on each rank with its pass, range or step, as on the rank that was last. Excludes collectives without
--     a certain match on all ranks.
-- grain: one matched collective on one rank in one pass
-- key: match_id, range, pass, member
-- params:
--   run VARCHAR: the run
--   range VARCHAR = NULL: as in stragglers
--   by VARCHAR = NULL: as in stragglers
--   {source}
-- columns:
--   match_id: as in rank-skew
--   job_id: the source that started first in the ranks' job
--   range: the stage, or the normalised range name; step for periodic steps
--   pass: pass number on each rank, from 1
--   is_warmup: whether stages or step-times excludes the pass on any rank; NULL when neither covers it
--   name: name of the range as recorded on the last rank; for periodic steps, the kernel that begins a step
--   member: the rank
--   device_id: GPU of the rank
--   is_last: whether it was last
--   last: the last rank
--   start_ns: as in rank_wait
--   last_start_ns: as in rank_wait
--   duration_ns: as in rank_wait
--   wait_ns: as in rank_wait
--   error_ns: as in rank_wait

WITH named AS (
    SELECT
        s.attribution,
        s.is_default,
        s.source_id,
        s.pid,
        s.device_id,
        s.range_id,
        coalesce(p.name, 'step') AS name,
        coalesce(p.name, k.name, 'graph replay') AS raw_name,
        s.nth AS pass,
        s.start_ns,
        s.until_ns,
        s.is_warmup
    FROM step s
    LEFT JOIN range_path p ON p.run_id = run AND p.path_id = s.name_path_id
    LEFT JOIN kernel_name k ON k.run_id = run AND k.kernel_name_id = s.kernel_name_id
    WHERE s.run_id = run AND ("range" IS NULL OR coalesce(p.name, k.name, 'graph replay') = "range")
), way AS ( -- passes of stages are by launch; ranges and steps as their default says
    SELECT CASE
        WHEN "range" IS NULL AND EXISTS (SELECT 1 FROM stage_pass p WHERE p.run_id = run AND p.is_counted) THEN 'stage'
        WHEN "by" IS NULL THEN coalesce((SELECT min(s.attribution) FROM named s WHERE s.is_default), 'launch')
        WHEN "by" IN ('launch', 'time') THEN "by"
        ELSE error('ARGUMENT: --by is launch or time')
    END AS way
), nth AS ( -- ranges by number
    SELECT
        p.range_id,
        p.stage AS name,
        p.is_warmup,
        p.pass_id AS pass
    FROM stage_pass p, way
    WHERE way.way = 'stage' AND p.run_id = run
    UNION ALL
    SELECT
        n.range_id,
        p.name,
        (SELECT bool_or(s.is_warmup) FROM named s WHERE s.range_id = n.range_id),
        row_number() OVER (PARTITION BY n.source_id, n.pid ORDER BY n.start_ns, n.range_id)
    FROM nvtx_range n JOIN range_path p ON p.run_id = n.run_id AND p.path_id = n.path_id, way
    WHERE way.way = 'launch' AND n.run_id = run AND p.name = "range"
    UNION ALL
    SELECT DISTINCT s.range_id, s.name, s.is_warmup, s.pass
    FROM named s, way
    WHERE way.way = 'launch' AND "range" IS NULL AND s.attribution = 'launch' AND s.range_id IS NOT NULL
), w AS (
    SELECT
        w.match_id,
        w.job_id,
        w.source_id,
        w.pid,
        w.device_id,
        w.member,
        w.is_last,
        w.start_ns,
        w.last_start_ns,
        w.duration_ns,
        w.wait_ns,
        w.error_ns,
        w.range_context_id,
        w.own_start_ns AS own_ns
    FROM rank_wait w
    WHERE w.run_id = run
        AND w.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND w.rank_count > 1
        AND w.is_told
), l AS (
    SELECT
        w.match_id,
        w.member,
        w.source_id,
        coalesce(w.pid, -1) AS pid,
        w.device_id,
        w.own_ns,
        w.range_context_id
    FROM w
    WHERE w.is_last
), placed AS (
    SELECT
        l.match_id,
        l.member,
        n.name,
        n.pass,
        n.is_warmup,
        r.name AS raw_name
    FROM l
    JOIN range_context x ON x.run_id = run AND x.range_context_id = l.range_context_id
    JOIN nth n ON n.range_id = x.range_id
    JOIN nvtx_range r ON r.run_id = run AND r.range_id = n.range_id
    UNION ALL
    SELECT
        l.match_id,
        l.member,
        s.name,
        s.pass,
        s.is_warmup,
        coalesce(r.name, s.raw_name)
    FROM l
    ASOF JOIN (
        SELECT
            s.source_id,
            coalesce(s.pid, -1) AS pid,
            s.device_id,
            s.range_id,
            s.name,
            s.raw_name,
            s.pass,
            s.start_ns,
            s.until_ns,
            s.is_warmup
        FROM named s, way
        WHERE way.way = 'time' AND s.attribution = 'time'
    ) s ON s.source_id = l.source_id AND s.pid = l.pid AND s.device_id = l.device_id AND s.start_ns <= l.own_ns
    LEFT JOIN nvtx_range r ON r.run_id = run AND r.range_id = s.range_id
    WHERE l.own_ns < s.until_ns
), warm AS ( -- of ranks that do a pass together one that is cold makes the others wait
    SELECT
        n.name,
        n.pass,
        bool_or(n.is_warmup) AS is_warmup
    FROM (
        SELECT n.name, n.pass, n.is_warmup
        FROM nth n
        UNION ALL
        SELECT s.name, s.pass, s.is_warmup
        FROM named s, way
        WHERE way.way = 'time' AND s.attribution = 'time'
    ) n
    GROUP BY n.name, n.pass
)
SELECT
    w.match_id,
    w.job_id,
    p.name AS range,
    p.pass,
    m.is_warmup,
    p.raw_name AS name,
    w.member,
    w.device_id,
    w.is_last,
    p.member AS last,
    w.start_ns,
    w.last_start_ns,
    w.duration_ns,
    w.wait_ns,
    w.error_ns
FROM w
JOIN placed p ON p.match_id = w.match_id
LEFT JOIN warm m ON m.name = p.name AND m.pass = p.pass
