-- inputs v1: Input files of the workload, given by prof capture --input and --inputs.
-- grain: one file
-- key: source_id, path, input
-- notes: capture
-- params:
--   run VARCHAR: the run
-- columns:
--   path: path as given, or relative to the directory given; of an input of --inputs, where the file lies
--   size_bytes: file size; NULL when the file could not be read
--   sha256: SHA-256 of the content; NULL when the file could not be read
--   source_id: the source: run.json
--   input: id of an input of --inputs, which passes name; NULL by --input
--   width_count: width in pixels; this and the next four are what the manifest says, NULL where it does not
--   height_count: height in pixels
--   page_count: pages
--   token_count: tokens
--   tags: tags as key=value

SELECT
    i.path,
    i.size_bytes,
    i.sha256,
    i.source_id,
    i.input,
    i.width_count,
    i.height_count,
    i.page_count,
    i.token_count,
    (
        SELECT string_agg(t.key || '=' || t.value, ' ' ORDER BY t.key)
        FROM capture_input_tag t
        WHERE t.run_id = i.run_id AND t.source_id = i.source_id AND t.input = i.input
    ) AS tags
FROM capture_input i
WHERE i.run_id = run
ORDER BY i.source_id, i.path, i.input
