-- cold_sign: One-time work in a stage pass: loading code, allocating memory, creating CUDA graphs, and launches that load their kernel.
-- grain: one pass and kind of call, on the pass's thread
-- key: range_id, kind
-- needs: _stage_range _api_time api_name
-- columns:
--   range_id BIGINT: the pass
--   kind VARCHAR: kind of call: load (modules, libraries and their functions), allocate (memory, mapped or freed too), graph (capture and
--     instantiation) or launch (a launch of 0.5 ms or longer: CUDA loads a kernel at its first launch)
--   call_count BIGINT: number of calls
--   time_ns BIGINT: sum of their times; a slow launch includes the loading within it

-- A launch from warm code takes some microseconds.
WITH name AS (
    SELECT o.api_name_id, o.kind
    FROM _one_time_call o
    WHERE o.kind <> 'ask'
    UNION ALL
    SELECT n.api_name_id, 'launch'
    FROM api_name n
    WHERE n.run_id = $run AND regexp_matches(n.name, 'Launch\w*Kernel')
)
SELECT
    r.range_id,
    n.kind,
    sum(a.call_count)::BIGINT AS call_count,
    sum(a.sum_ns)::BIGINT AS time_ns
FROM _api_time a
JOIN name n ON n.api_name_id = a.api_name_id AND (n.kind <> 'launch' OR a.is_slow)
JOIN range_context c ON c.run_id = $run AND c.range_context_id = a.range_context_id
JOIN _stage_range r ON r.range_id = c.range_id
GROUP BY r.range_id, n.kind
