-- _shell-word: A text as one word of a POSIX shell's command line.
-- grain: one value
-- key: none
-- scalar: a spelling
-- params:
--   x VARCHAR: the text
-- columns:
--   word: the text, between quotes where it needs them

CASE WHEN regexp_full_match(x::VARCHAR, '[A-Za-z0-9_./:@%+=,][A-Za-z0-9_./:@%+=,-]*') THEN x::VARCHAR ELSE '''' || replace(x::VARCHAR, '''', '''\''''') || '''' END
