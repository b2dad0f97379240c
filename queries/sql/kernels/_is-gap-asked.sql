-- _is-gap-asked: Whether idle gaps are of the cause and in the place that are asked for.
-- grain: one value
-- key: none
-- scalar: a condition on gaps
-- params:
--   part VARCHAR: the largest of their parts
--   of_place VARCHAR: where they lie, as _gap-place has it
--   cause VARCHAR: the part or cause that is asked for; NULL for any
--   place VARCHAR: the place that is; NULL for any
-- columns:
--   is_asked: whether they are

CASE
    WHEN cause IS NULL THEN true
    WHEN cause NOT IN ({'causes'}, {'idle parts'}) THEN error('ARGUMENT: --cause is launch-bound, {idle parts}')::BOOLEAN
{{- range .Idle}}
    WHEN part = {{quote .Name}} THEN cause IN ({{quote .Name}}, {{quote .Kind}})
{{- end}}
END
AND CASE
    WHEN place IS NULL THEN true
    WHEN place NOT IN ('in-pass', 'between-passes', 'outside')
        THEN error('ARGUMENT: --place is in-pass, between-passes or outside')::BOOLEAN
    ELSE of_place = place
END
