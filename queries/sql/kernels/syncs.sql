-- syncs v3: GPU synchronisations by kind, as the driver recorded them; nsys 2025 records none for cudaDeviceSynchronize, whose time is in
--     api-calls. Prof's tracer records none: beside it those of Nsight Systems are counted.
-- grain: one kind of synchronisation
-- key: kind
-- notes: timelines sync left-syncs sync-calls recorded
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only synchronisations in this stage; (none) for those outside every stage
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   kind: kind of synchronisation
--   calls: number of synchronisations
--   total_ns: sum of the wait times
--   mean_ns: mean wait time
--   median_ns: median wait time
--   min_ns: shortest
--   max_ns: longest
--   std_ns: sample standard deviation (n-1); NULL for a single one

SELECT
    y.kind,
    count(*) AS calls,
    sum(y.duration_ns)::BIGINT AS total_ns,
    avg(y.duration_ns) AS mean_ns,
    median(y.duration_ns) AS median_ns,
    min(y.duration_ns) AS min_ns,
    max(y.duration_ns) AS max_ns,
    _std(y.duration_ns) AS std_ns
FROM _ranked_sync(run, stage := stage, warmup := warmup, source := source) y
WHERE NOT y.is_left
GROUP BY y.kind
ORDER BY total_ns DESC, y.kind
