-- _run-id: The id of the run that a reference names; an error when it names none or several.
-- grain: one value
-- key: none
-- scalar: a table would be joined to every row; as a value, and an id as the reference, it is a constant that scans filter by
-- params:
--   run VARCHAR: name, id, unique prefix of either, unique words of a name, @latest, @latest~N, or tag:key=value
-- columns:
--   run_id: the run

CASE
    WHEN regexp_full_match(run, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}') THEN run::UUID
    ELSE coalesce((SELECT r.run_id FROM _run_ref(run) r), error('no run, or more than one: ' || run)::UUID)
END
