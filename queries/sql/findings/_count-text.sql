-- _count-text: How many of something in the words of a sentence: 1 pass, 49,711 gaps.
-- grain: one value
-- key: none
-- scalar: a spelling
-- params:
--   n BIGINT: how many
--   one VARCHAR: what one is called
--   many VARCHAR: what several are called
-- columns:
--   text: the number and the word

format('{:,} {}', (n)::BIGINT, CASE WHEN n = 1 THEN one ELSE many END)
