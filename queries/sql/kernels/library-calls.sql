-- library-calls v2: Calls of traced libraries (cuDNN, cuBLAS) by function; newer profilers record cuBLAS as ranges of the domain cuBLAS
--     instead.
-- grain: one function of a library
-- key: library, call
-- notes: timelines warm
-- params:
--   run VARCHAR: the run
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
FROM library_call l JOIN api_name n ON n.run_id = l.run_id AND n.api_name_id = l.api_name_id
WHERE l.run_id = run AND l.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
GROUP BY l.library, n.name
ORDER BY total_ns DESC, l.library, n.name
