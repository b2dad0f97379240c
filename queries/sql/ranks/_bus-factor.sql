-- _bus-factor: What a collective's algorithm bandwidth is multiplied by for its bus bandwidth: the bytes that each rank's link carries, by those of the buffer. Of NCCL's tests (nccl-tests, doc/PERFORMANCE.md; all-to-all, gather and scatter from their sources), which count the larger of the buffer given and the one received.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   operation VARCHAR: all-reduce, all-gather, ...
--   ranks BIGINT: ranks of the communicator
-- columns:
--   factor: the factor; NULL for operations that have none, and where the ranks are not known

CASE WHEN operation IN ('broadcast', 'reduce', 'send', 'recv', 'send-recv') THEN 1.0::DOUBLE WHEN operation = 'all-reduce' THEN 2.0::DOUBLE * (ranks - 1) / ranks
    WHEN operation IN ('all-gather', 'reduce-scatter', 'all-to-all', 'gather', 'scatter') THEN (ranks - 1)::DOUBLE / ranks END
