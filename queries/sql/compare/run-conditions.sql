-- run-conditions v1: Conditions that two runs must share for a difference to come from their code alone: hardware and its state, work,
--     software and capture method.
-- grain: one aspect of a run
-- key: run_id, aspect
-- params:
--   run VARCHAR: the run
--   others VARCHAR = NULL: ids of further runs to include, separated by commas: faster than one query per run
-- columns:
--   aspect: condition: GPU, driver, prompt tokens, nsys trace, torch with_stack (on; off has no row), package torch, variable
--     CUDA_LAUNCH_BLOCKING, tag branch, ...; one that no source records has no row
--   value: its value as text with its unit; several values are separated by commas
--   weight: what a difference means: decides (other work or hardware: times compare that too), clouds (may change times) or tells (may be
--     the intended change)
--   source_id: the source of the value; NULL when it follows from several sources, or from none
--   run_id: the run

WITH said AS (
    SELECT c.run_id, c.aspect, c.value, c.weight, c.source_id
    FROM run_condition c
    UNION ALL
    SELECT
        t.run_id,
        'tag ' || t.key,
        t.value,
        'tells',
        NULL
    FROM run_tag t
)
SELECT
    s.aspect,
    s.value,
    s.weight,
    s.source_id,
    s.run_id::VARCHAR AS run_id
FROM said s
WHERE s.run_id = run
    OR others IS NOT NULL
    AND list_contains(
        list_transform(
            string_split(others, ','),
            lambda x: coalesce(
                try_cast(x AS UUID),
                error('ARGUMENT: --others are ids of runs, with commas between them')::UUID
            )
        ),
        s.run_id
    )
ORDER BY s.run_id, CASE s.weight WHEN 'decides' THEN 0 WHEN 'clouds' THEN 1 ELSE 2 END, s.aspect
