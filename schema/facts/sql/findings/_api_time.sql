-- _api_time: CUDA calls added up by the ranges they were made in, function and length, those without a row of their own too.
-- grain: one source, process, set of ranges, function and length
-- key: source_id, pid, range_context_id, api_name_id, is_long, is_slow
-- needs: api_call|api_sum
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: calling process
--   range_context_id BIGINT: ranges of the calls, as in api_call
--   api_name_id BIGINT: function
--   is_long BOOLEAN: whether the calls took 100 us or longer
--   is_slow BOOLEAN: whether they took 500 us or longer
--   call_count BIGINT: calls
--   sum_ns BIGINT: time in the calls

SELECT
    x.source_id,
    x.pid,
    x.range_context_id,
    x.api_name_id,
    x.is_long,
    x.is_slow,
    sum(x.call_count)::BIGINT AS call_count,
    sum(x.sum_ns)::BIGINT AS sum_ns
FROM (
    SELECT
        a.source_id,
        a.pid,
        a.range_context_id,
        a.api_name_id,
        a.duration_ns >= 100000 AS is_long,
        a.duration_ns >= 500000 AS is_slow,
        1 AS call_count,
        a.duration_ns AS sum_ns
    FROM api_call a
    WHERE a.run_id = $run
    UNION ALL
    SELECT
        s.source_id,
        s.pid,
        s.range_context_id,
        s.api_name_id,
        false,
        false,
        s.call_count,
        s.sum_ns
    FROM api_sum s
    WHERE s.run_id = $run
) x
GROUP BY x.source_id, x.pid, x.range_context_id, x.api_name_id, x.is_long, x.is_slow
