-- stage_part: The parts of a stage's time on a GPU, as accounting has them: of idle time those of idle_part.
-- grain: one part
-- key: part
-- columns:
--   place: its place among the others, from 1
--   part: the part
--   kind: busy (work of the stage ran), other (only other work ran), or the cause of idle time that the part is of
--   is_idle: whether no work ran
--   label: the part in a cell or a legend
--   meaning: when the GPU's time is of this part

SELECT p.place, p.part, p.kind, p.is_idle, p.label, p.meaning
FROM (
    VALUES {{range $i, $p := .Parts}}{{if $i}},
        {{end}} ({{inc $i}}, {{quote .Name}}, {{quote .Kind}}, {{.IsIdle}}, {{quote .Text}}, {{quote .Meaning}}){{end}}
) p(place, part, kind, is_idle, label, meaning)
