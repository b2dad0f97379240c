-- _one_time_call: CUDA functions that warm code need not call: those that load code, allocate memory or create graphs.
-- grain: one function
-- key: api_name_id
-- needs: api_name
-- columns:
--   api_name_id BIGINT: the function
--   kind VARCHAR: load (modules, libraries and their functions, and linking them), allocate (memory, mapped or freed too), graph (capture
--     and instantiation) or ask (attributes of a function, which is loaded first where it is not yet)

-- Lazy loading: CUDA C++ Programming Guide, "Lazy Loading".
SELECT q.api_name_id, q.kind
FROM (
    SELECT
        n.api_name_id,
        CASE
            WHEN regexp_matches(
                    n.name,
                    '^(cu|hip)(da)?((Module|Library|Kernel|Func)(Load|Unload|Get(Function|Kernel|Global|Module)|SetAttribute)|Link(Create|Add|Complete))'
                )
                THEN 'load'
            WHEN regexp_matches(
                    n.name,
                    '^(cu|hip)(da)?(Mem(Alloc|Create|Map|Unmap|SetAccess|AddressReserve|Export|Import|Release|Free)|Malloc|Free|Host(Alloc|Register)|IpcOpen)'
                )
                THEN 'allocate'
            WHEN regexp_matches(n.name, '^(cu|hip)(da)?(GraphInstantiate|GraphExecUpdate|StreamEndCapture)')
                THEN 'graph'
            WHEN regexp_matches(n.name, '^(cu|hip)(da)?FuncGetAttribute') THEN 'ask'
        END AS kind
    FROM api_name n
    WHERE n.run_id = $run
) q
WHERE q.kind IS NOT NULL
