-- cold_sign: What a pass of a stage spends on what only the first ones need: loading code, allocating memory, making CUDA graphs, and launches that load their kernel.
-- grain: one pass and kind of call, of a thread that the pass is on
-- key: range_id, kind
-- needs: _stage_range
-- columns:
--   range_id BIGINT: the pass
--   kind VARCHAR: load (modules, libraries and their functions), allocate (memory, its mapping and freeing), graph (capture and instantiation) or launch (a launch of 0.5 ms or more: CUDA loads a kernel when it is first launched)
--   call_count BIGINT: calls
--   time_ns BIGINT: their time, added up. A slow launch includes the loading that it does

-- Lazy loading: CUDA C++ Programming Guide, "Lazy Loading"; a launch from warm code takes some microseconds.
WITH name AS (
    SELECT n.api_name_id,
        CASE WHEN regexp_matches(n.name, '^(cu|hip)(da)?(Module|Library|Kernel|Func)(Load|Unload|Get(Function|Kernel|Global|Module)|SetAttribute)') THEN 'load'
            WHEN regexp_matches(n.name, '^(cu|hip)(da)?(Mem(Alloc|Create|Map|Unmap|SetAccess|AddressReserve|Export|Import|Release|Free)|Malloc|Free|Host(Alloc|Register)|IpcOpen)') THEN 'allocate'
            WHEN regexp_matches(n.name, '^(cu|hip)(da)?(GraphInstantiate|GraphExecUpdate|StreamEndCapture)') THEN 'graph'
            WHEN regexp_matches(n.name, 'Launch\w*Kernel') THEN 'launch' END AS kind
    FROM api_name n WHERE n.run_id = $run
)
SELECT r.range_id, n.kind, count(*) AS call_count, sum(a.duration_ns)::BIGINT AS time_ns
FROM api_call a
JOIN name n ON n.api_name_id = a.api_name_id AND CASE n.kind WHEN 'launch' THEN a.duration_ns >= 500000 ELSE n.kind IS NOT NULL END
JOIN range_context c ON c.run_id = a.run_id AND c.range_context_id = a.range_context_id
JOIN _stage_range r ON r.range_id = c.range_id
WHERE a.run_id = $run
GROUP BY r.range_id, n.kind
