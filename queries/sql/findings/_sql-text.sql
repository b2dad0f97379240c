-- _sql-text: A text as SQL writes it.
-- grain: one value
-- key: none
-- scalar: a spelling
-- params:
--   x VARCHAR: the text
-- columns:
--   text: between quotes

'''' || replace(x::VARCHAR, '''', '''''') || ''''
