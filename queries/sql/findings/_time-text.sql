-- _time-text: A time in the words of a sentence, in the unit that suits it.
-- grain: one value
-- key: none
-- scalar: a spelling
-- params:
--   ns BIGINT: the time
-- columns:
--   text: the time with its unit

CASE WHEN ns >= 1e9 THEN format('{:.2f} s', ns / 1e9) WHEN ns >= 1e6 THEN format('{:.2f} ms', ns / 1e6) WHEN ns >= 1e3 THEN format('{:.2f} us', ns / 1e3) ELSE format('{:.0f} ns', ns::DOUBLE) END
