-- _tool_loss: What tools and importers say of data that they lost, and totals that they print against the rows of the file.
-- grain: one cause, source and process
-- key: source_id, pid, cause
-- needs: diagnostic
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL for all, or when not said
--   cause VARCHAR: what was lost and by what: prof words it, with the remedy
--   item_count BIGINT: records; NULL when not said
--   message VARCHAR: the message, the first of several

-- Only messages that mean lost data: Nsight Systems also says "Not all CUDA events might have been collected" and "No CUDA events
-- collected" of captures that are whole. Where they are from is in the table of remedies.
WITH said AS (
    SELECT
        d.source_id,
        nullif(d.pid, 0) AS pid,
        d.time_ns,
        d.message,
        CASE
            WHEN d.origin = 'capture'
                AND s.kind = 'nsys'
                AND regexp_matches(d.message, 'Cannot find (?:string for an exterior|bucket for a bucket) index')
                THEN 'nsys-import-strings'
            WHEN d.origin = 'capture'
                AND s.kind = 'nsys'
                AND regexp_matches(d.message, 'ProcessEventsError|Wrong event order has been detected')
                THEN 'nsys-import'
            WHEN d.origin = 'capture' AND s.kind = 'prof' AND regexp_matches(d.message, '^CUPTI dropped \d+ records')
                THEN 'cupti-dropped'
            WHEN d.origin = 'ingest' AND s.kind = 'prof' AND regexp_matches(d.message, '^the last block of .* is cut')
                THEN 'trace-cut'
            WHEN d.origin = 'capture'
                AND s.kind = 'torch'
                AND regexp_matches(d.message, 'Exceeded max GPU buffer count')
                THEN 'kineto-buffer'
            WHEN d.origin = 'capture' AND s.kind = 'torch' AND regexp_matches(d.message, 'Dropped \d+ activity records')
                THEN 'kineto-dropped'
            WHEN d.origin = 'capture' AND s.kind = 'xla' AND regexp_matches(d.message, '^Detected GPU events dropped')
                THEN 'xla-dropped'
        END AS cause,
        CASE cause
            WHEN 'cupti-dropped' THEN regexp_extract(d.message, 'dropped (\d+) records', 1)
            WHEN 'kineto-dropped' THEN regexp_extract(d.message, 'Dropped (\d+) activity', 1)
        END AS counted,
        CASE cause
            WHEN 'xla-dropped'
                THEN list_sum(list_transform(
                    regexp_extract_all(d.message, '(\d+) events dropped because', 1),
                    lambda n: try_cast(n AS BIGINT)
                ))
        END AS listed
    FROM diagnostic d JOIN source s ON s.run_id = d.run_id AND s.source_id = d.source_id
    WHERE d.run_id = $run
), collected AS ( -- nsys prints what it collected of calls, kernels, copies and fills of each process
    SELECT
        d.source_id,
        sum(try_cast(regexp_extract(d.message, 'collected: (\d+)', 1) AS BIGINT))::BIGINT AS n,
        min(d.message) AS message,
        min(nullif(d.pid, 0)) AS pid,
        count(DISTINCT d.pid) AS processes,
        any_value(s.tool_version) AS version
    FROM diagnostic d
    JOIN source s ON s.run_id = d.run_id AND s.source_id = d.source_id AND s.kind = 'nsys'
    WHERE d.run_id = $run
        AND d.origin = 'capture'
        AND regexp_matches(d.message, '^Number of CUDA events collected: \d+')
    GROUP BY d.source_id
), counted AS (
    SELECT
        p.source_id,
        sum(
            CASE
                WHEN regexp_matches(p.part, '^CUPTI_ACTIVITY_KIND_(RUNTIME|DRIVER|KERNEL|MEMCPY|MEMSET)(_V\d+)?$')
                    THEN p.read_count
            END
        )::BIGINT AS own,
        sum(p.read_count)::BIGINT AS every
    FROM source_part p
    WHERE p.run_id = $run AND regexp_matches(p.part, '^(CUPTI_ACTIVITY_KIND|CUDA)_')
    GROUP BY p.source_id
), total AS ( -- the same to the row in 2025.3; what other versions count is not known: at least what is more than all rows
    SELECT
        c.source_id,
        CASE WHEN c.processes = 1 THEN c.pid END AS pid,
        c.n - CASE WHEN c.version LIKE '2025.3%' THEN coalesce(x.own, 0) ELSE coalesce(x.every, 0) END AS missing,
        c.version LIKE '2025.3%' AS is_exact,
        c.message
    FROM collected c LEFT JOIN counted x ON x.source_id = c.source_id
)
SELECT
    s.source_id,
    s.pid,
    s.cause,
    sum(coalesce(try_cast(s.counted AS BIGINT), s.listed::BIGINT))::BIGINT AS item_count,
    arg_min(s.message, (coalesce(s.time_ns, 0), s.message)) AS message
FROM said s
WHERE s.cause IS NOT NULL
GROUP BY s.source_id, s.pid, s.cause
UNION ALL
SELECT
    t.source_id,
    t.pid,
    CASE WHEN t.missing > 0 THEN 'nsys-rows-missing' ELSE 'nsys-rows-added' END,
    abs(t.missing),
    t.message
FROM total t
WHERE t.missing > 0 OR t.is_exact AND t.missing < 0
