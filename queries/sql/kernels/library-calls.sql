-- library-calls v3: Calls of traced libraries (cuDNN, cuBLAS) by function; newer profilers record cuBLAS as ranges of the domain cuBLAS
--     instead.
-- grain: one function of a library
-- key: library, call
-- notes: timelines left-library recorded
-- params:
--   run VARCHAR: the run
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   library: cuDNN or cuBLAS
--   call: function
--   calls: calls
--   total_ns: sum of the call times
--   mean_ns: mean time
--   median_ns: median time
--   min_ns: shortest
--   max_ns: longest
--   std_ns: sample standard deviation (n-1); NULL for a single call

SELECT
    l.library,
    n.name AS "call",
    count(*) AS calls,
    sum(l.duration_ns)::BIGINT AS total_ns,
    avg(l.duration_ns) AS mean_ns,
    median(l.duration_ns) AS median_ns,
    min(l.duration_ns) AS min_ns,
    max(l.duration_ns) AS max_ns,
    _std(l.duration_ns) AS std_ns
FROM _ranked_library_call(run, warmup := warmup, source := source) l
JOIN api_name n ON n.run_id = run AND n.api_name_id = l.api_name_id
WHERE NOT l.is_left
GROUP BY l.library, n.name
ORDER BY total_ns DESC, l.library, n.name
