-- _bus-factor: Factor from a collective's algorithm bandwidth to its bus bandwidth: bytes over each rank's link / bytes of the buffer. From
--     NCCL's tests (nccl-tests, doc/PERFORMANCE.md; all-to-all, gather and scatter from their sources), which use the larger of send and
--     receive buffer.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   operation VARCHAR: all-reduce, all-gather, ...
--   ranks BIGINT: ranks in the communicator
-- columns:
--   factor: the factor; NULL for operations without one, and when the ranks are unknown

CASE
    WHEN operation IN ('broadcast', 'reduce', 'send', 'recv', 'send-recv') THEN 1.0::DOUBLE
    WHEN operation = 'all-reduce' THEN 2.0::DOUBLE * (ranks - 1) / ranks
    WHEN operation IN ('all-gather', 'reduce-scatter', 'all-to-all', 'gather', 'scatter')
        THEN (ranks - 1)::DOUBLE / ranks
END
