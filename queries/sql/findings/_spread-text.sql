-- _spread-text: How a time is spread over passes, as the end of a sentence. A mean would hide that one cold pass holds nearly all of it.
-- grain: one value
-- key: none
-- scalar: a spelling
-- params:
--   total_ns BIGINT: the time in all passes
--   max_ns BIGINT: the most of one pass
--   median_ns DOUBLE: the median over passes
--   passes BIGINT: passes
-- columns:
--   text: empty of a single pass

CASE WHEN passes <= 1 THEN '' WHEN max_ns > 0.8 * total_ns THEN format('; {} of it in one of {:,} passes, {} in the median one', _time_text(max_ns), (passes)::BIGINT, CASE WHEN median_ns = 0 THEN 'none' ELSE _time_text(median_ns) END)
    WHEN total_ns >= 0.9 * max_ns * passes THEN format('; about {} in each of {:,} passes', _time_text(median_ns), (passes)::BIGINT)
    ELSE format('; at most {} in one of {:,} passes, {} in the median one', _time_text(max_ns), (passes)::BIGINT, CASE WHEN median_ns = 0 THEN 'none' ELSE _time_text(median_ns) END) END
