-- cold_sign: One-time work in a stage pass: loading code, allocating memory, creating CUDA graphs, and launches that load their kernel.
-- grain: one pass and kind of call, on the pass's thread
-- key: range_id, kind
-- needs: _stage_range _api_time
-- columns:
--   range_id BIGINT: the pass
--   kind VARCHAR: kind of call: load (modules, libraries and their functions), allocate (memory, mapped or freed too), graph (capture and instantiation) or launch (a launch of 0.5
--     ms or longer: CUDA loads a kernel at its first launch)
--   call_count BIGINT: number of calls
--   time_ns BIGINT: sum of their times; a slow launch includes the loading within it

-- Lazy loading: CUDA C++ Programming Guide, "Lazy Loading"; a launch from warm code takes some microseconds.
WITH name AS (
    SELECT n.api_name_id,
        CASE WHEN regexp_matches(n.name, '^(cu|hip)(da)?(Module|Library|Kernel|Func)(Load|Unload|Get(Function|Kernel|Global|Module)|SetAttribute)') THEN 'load'
            WHEN regexp_matches(n.name, '^(cu|hip)(da)?(Mem(Alloc|Create|Map|Unmap|SetAccess|AddressReserve|Export|Import|Release|Free)|Malloc|Free|Host(Alloc|Register)|IpcOpen)') THEN 'allocate'
            WHEN regexp_matches(n.name, '^(cu|hip)(da)?(GraphInstantiate|GraphExecUpdate|StreamEndCapture)') THEN 'graph'
            WHEN regexp_matches(n.name, 'Launch\w*Kernel') THEN 'launch' END AS kind
    FROM api_name n WHERE n.run_id = $run
)
SELECT r.range_id, n.kind, sum(a.call_count)::BIGINT AS call_count, sum(a.sum_ns)::BIGINT AS time_ns
FROM _api_time a
JOIN name n ON n.api_name_id = a.api_name_id AND CASE n.kind WHEN 'launch' THEN a.is_slow ELSE n.kind IS NOT NULL END
JOIN range_context c ON c.run_id = $run AND c.range_context_id = a.range_context_id
JOIN _stage_range r ON r.range_id = c.range_id
GROUP BY r.range_id, n.kind
