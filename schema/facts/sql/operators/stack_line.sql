-- stack_line: Python stacks by the lines of code on them: what the innermost function of each is, and which function on it is the user's
--     own.
-- grain: one Python stack
-- key: stack_id
-- needs: python_stack
-- columns:
--   stack_id BIGINT: the stack, as in python_stack
--   own_stack_id BIGINT: the stack cut at its innermost function that is the user's own code; NULL when none is, or the capture is of XLA's
--     profiler, which records files without folders
--   file_stack_id BIGINT: the stack cut at its innermost function with a file, whoever wrote it; NULL when none has one
--   line VARCHAR: of the innermost function, file:line without the folder that all files of the user's own code with absolute paths share;
--     the PyTorch profiler records the line that a function begins at, Nsight Systems the one that ran; NULL for functions without a file
--   function VARCHAR: its name; of a built-in function without the object that it belongs to
--   path VARCHAR: its file as recorded; NULL for functions without one
--   line_number INTEGER: the line in that file

WITH RECURSIVE recorded AS ( -- XLA's profiler records files without their folders, which say nothing
    SELECT coalesce(bool_or(s.kind <> 'xla'), true) AS has_folders
    FROM source s
    WHERE s.run_id = $run AND s.source_id IN (SELECT c.source_id FROM python_call c WHERE c.run_id = $run)
), function AS (
    SELECT
        d.function,
        _is_own_code(d.function) AND (SELECT t.has_folders FROM recorded t) AS is_own,
        nullif(regexp_extract(d.function, '^(.*?)\(([0-9]+)\): (.*)$', 1), '') AS path,
        TRY_CAST(regexp_extract(d.function, '^(.*?)\(([0-9]+)\): (.*)$', 2) AS INTEGER) AS line_number,
        coalesce(
            nullif(regexp_extract(d.function, '^(.*?)\(([0-9]+)\): (.*)$', 3), ''),
            regexp_replace(d.function, '^<(built-in) (?:method|function) (\S+).*>$', '<\1 \2>')
        ) AS name
    FROM (SELECT DISTINCT s.function FROM python_stack s WHERE s.run_id = $run) d
), ends AS (
    SELECT
        min(f.path) AS first,
        max(f.path) AS last
    FROM function f
    WHERE f.is_own AND regexp_matches(f.path, '^(/|~|[A-Za-z]:)')
), folder AS ( -- what the first and the last path begin with, all between them do
    SELECT nullif(
        regexp_replace(
            left(
                e.first,
                coalesce(
                    list_max(list_filter(range(1, len(e.first) + 1), lambda n: left(e.last, n) = left(e.first, n))),
                    0
                )::BIGINT
            ),
            '[^/\\]*$',
            ''
        ),
        '/'
    ) AS folder
    FROM ends e
), frame AS MATERIALIZED (
    SELECT
        s.stack_id,
        s.parent_stack_id,
        f.is_own,
        f.path IS NOT NULL AND (f.is_own OR NOT starts_with(f.path, '<')) AS has_file,
        CASE WHEN starts_with(f.path, d.folder) THEN substr(f.path, len(d.folder) + 1) ELSE f.path END
            || ':'
            || f.line_number AS line,
        f.name,
        f.path,
        f.line_number
    FROM python_stack s JOIN function f ON f.function = s.function CROSS JOIN folder d
    WHERE s.run_id = $run
), cut AS (
    SELECT
        f.stack_id,
        CASE WHEN f.is_own THEN f.stack_id END AS own_stack_id,
        CASE WHEN f.has_file THEN f.stack_id END AS file_stack_id
    FROM frame f
    WHERE f.parent_stack_id IS NULL
    UNION ALL
    SELECT
        f.stack_id,
        CASE WHEN f.is_own THEN f.stack_id ELSE c.own_stack_id END,
        CASE WHEN f.has_file THEN f.stack_id ELSE c.file_stack_id END
    FROM cut c JOIN frame f ON f.parent_stack_id = c.stack_id
)
SELECT
    c.stack_id,
    c.own_stack_id,
    c.file_stack_id,
    f.line,
    f.name AS function,
    f.path,
    f.line_number
FROM cut c JOIN frame f ON f.stack_id = c.stack_id
