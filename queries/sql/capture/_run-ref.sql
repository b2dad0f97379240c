-- _run-ref: The run that a reference names; no row when it names none or several.
-- grain: one run
-- key: run_id
-- params:
--   run VARCHAR: name, id, unique prefix of either, unique words of a name, @latest, @latest~N, or tag:key=value
-- columns:
--   run_id: the run

WITH ranked AS (
    SELECT
        r.run_id,
        r.name,
        r.run_id::VARCHAR AS id,
        row_number() OVER (ORDER BY r.created_at DESC, r.run_id DESC) - 1 AS age
    FROM run r
), hit AS (
    SELECT
        ranked.run_id,
        CASE
            WHEN ranked.name = run OR ranked.id = run THEN 0
            WHEN regexp_full_match(run, '@latest(~[0-9]{1,18})?')
                AND ranked.age = coalesce(try_cast(substr(run, 9) AS BIGINT), 0)
                THEN 1
            WHEN starts_with(run, 'tag:')
                AND ranked.run_id = (
                    SELECT max(t.run_id)
                    FROM run_tag t
                    WHERE 'tag:' || t.key || '=' || t.value = run
                )
                THEN 1
            WHEN run <> '' AND (starts_with(ranked.name, run) OR starts_with(ranked.id, lower(run))) THEN 2
            WHEN octet_length(encode(run)) < 3 OR regexp_matches(run, '^(@|tag:|baseline:)') THEN NULL
            WHEN NOT regexp_matches(ranked.name, '(?:^|[^\pL\pN])' || regexp_escape(run)) THEN NULL
            WHEN ends_with(ranked.name, run) THEN 2
            ELSE 3
        END AS quality
    FROM ranked
)
SELECT hit.run_id
FROM hit
WHERE hit.quality IS NOT NULL
QUALIFY rank() OVER (ORDER BY hit.quality) = 1 AND count(*) OVER (PARTITION BY hit.quality) = 1
