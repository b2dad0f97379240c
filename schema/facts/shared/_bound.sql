-- _bound: What limits device work, by its shares of both peaks: latency, memory, compute or unknown.
-- grain: one value
-- key: none
-- scalar: the verdict of bottlenecks, for kernels and what is profiled as a whole
-- params:
--   sm_ratio DOUBLE: compute throughput as a share of peak
--   memory_ratio DOUBLE: memory throughput as a share of peak
--   roof DOUBLE: work below this share of both is latency-bound
-- columns:
--   bound: latency, memory, compute or unknown

CASE
    WHEN roof < 0 OR roof > 1 THEN error('ARGUMENT: --roof is a share: 0.6 for 60 %')
    WHEN sm_ratio IS NULL OR memory_ratio IS NULL THEN 'unknown'
    WHEN sm_ratio < roof AND memory_ratio < roof THEN 'latency'
    WHEN sm_ratio >= memory_ratio THEN 'compute'
    ELSE 'memory'
END
