-- stage_memory: Peak GPU memory by stage, each as one source knows it: PyTorch's allocator, NVML, or Nsight Systems' record of allocations.
--     Warm-up and cold passes are included.
-- grain: one stage, or the whole recording, on one basis in one recording, process and GPU
-- key: basis, pass_id, source_id, stage, pid, device_id
-- needs: execution_memory|cuda_allocation|memory_event|device_sample
-- columns:
--   basis VARCHAR: torch allocated (given out by PyTorch's allocator), torch reserved (held by it), nvml used (all processes, by samples),
--     or what the process got from CUDA by the kind of memory: nsys device, nsys managed, nsys pinned, ...
--   pass_id INTEGER: recording of prof capture; NULL for a timeline that it did not make
--   source_id INTEGER: timeline that it is of; NULL for a time that prof's helper took
--   stage VARCHAR: the stage, by stage_rule; NULL for the whole recording
--   pid INTEGER: process; NULL for NVML, which counts all
--   device_id INTEGER: GPU: as in device for a timeline, as PyTorch counts for prof's helper, as NVML counts for NVML
--   pass_count BIGINT: executions of the stage with a figure; NULL for the whole recording
--   sample_count BIGINT: NVML samples in them; NULL for others
--   peak_bytes BIGINT: highest amount; of samples, the highest of them. NULL when only bounds are known
--   least_bytes BIGINT: amount that it reached
--   most_bytes BIGINT: amount that it did not exceed; NULL when unknown, as with samples

-- PyTorch's own peak is not reset between executions: one that does not raise it did not exceed it, and reached what it began and ended
-- with. A peak that fell was reset by the program in the meantime. Allocations that were made before a record began make its sums too
-- small: a sum below zero shows that.
WITH w AS (
    SELECT p.stage, p.range_id, p.source_id, p.pid, p.start_ns, p.end_ns
    FROM stage_pass p
    WHERE p.run_id = $run AND p.end_ns IS NOT NULL
), recorded AS (
    SELECT
        c.captured_source_id AS source_id,
        max(c.pass_id) AS pass_id
    FROM capture_source c
    WHERE c.run_id = $run
    GROUP BY c.captured_source_id
), level AS ( -- after each allocation and release
    SELECT
        'nsys ' || lower(a.memory) AS basis,
        a.source_id,
        a.pid,
        a.device_id,
        a.time_ns,
        row_number() OVER in_time AS nth,
        try_cast(sum(a.size_bytes) OVER in_time AS BIGINT) AS bytes
    FROM cuda_allocation a
    WHERE a.run_id = $run
    WINDOW in_time AS (
            PARTITION BY a.source_id, a.pid, a.device_id, a.memory
            ORDER BY a.time_ns, a.size_bytes, a.address
            ROWS UNBOUNDED PRECEDING
        ) -- of one moment releases come first
    UNION ALL
    SELECT
        unnest(['torch allocated', 'torch reserved']),
        m.source_id,
        m.pid,
        m.device_id,
        m.time_ns,
        m.nth,
        unnest([m.allocated_bytes, m.reserved_bytes])
    FROM memory_point m
    WHERE m.run_id = $run AND m.device_type <> 'cpu' AND m.reserved_bytes IS NOT NULL
), settled AS ( -- of one moment the last
    SELECT
        l.basis,
        l.source_id,
        l.pid,
        l.device_id,
        l.time_ns,
        arg_max(l.bytes, l.nth) AS bytes
    FROM level l
    GROUP BY l.basis, l.source_id, l.pid, l.device_id, l.time_ns
), place AS (
    SELECT
        l.basis,
        l.source_id,
        l.pid,
        l.device_id,
        min(l.bytes) AS least_bytes,
        max(l.bytes) AS bytes
    FROM level l
    GROUP BY l.basis, l.source_id, l.pid, l.device_id
), staged AS (
    SELECT DISTINCT w.stage, w.source_id, w.pid
    FROM w
), seen AS ( -- amounts of a stage: that with which a pass of it begins, and those in it
    SELECT x.basis, x.source_id, x.stage, x.pid, x.device_id, x.range_id, l.bytes
    FROM (
        SELECT p.basis, p.device_id, w.stage, w.source_id, w.pid, w.range_id, w.start_ns
        FROM w JOIN place p ON p.source_id = w.source_id AND p.pid = w.pid
    ) x
    ASOF JOIN settled l
        ON l.basis = x.basis
        AND l.source_id = x.source_id
        AND l.pid = x.pid
        AND l.device_id = x.device_id
        AND x.start_ns >= l.time_ns
    UNION ALL
    SELECT l.basis, l.source_id, l.stage, l.pid, l.device_id, w.range_id, l.bytes
    FROM (
        SELECT l.basis, l.source_id, l.pid, l.device_id, l.time_ns, l.bytes, s.stage
        FROM level l JOIN staged s ON s.source_id = l.source_id AND s.pid = l.pid
    ) l
    ASOF JOIN w ON w.source_id = l.source_id AND w.pid = l.pid AND w.stage = l.stage AND l.time_ns >= w.start_ns
    WHERE l.time_ns <= w.end_ns
), allocated AS (
    SELECT
        s.basis,
        s.source_id,
        s.stage,
        s.pid,
        s.device_id,
        count(DISTINCT s.range_id) AS pass_count,
        max(s.bytes) AS bytes
    FROM seen s
    GROUP BY s.basis, s.source_id, s.stage, s.pid, s.device_id
    UNION ALL
    SELECT p.basis, p.source_id, NULL, p.pid, p.device_id, NULL, p.bytes
    FROM place p
), used AS ( -- GPUs of a timeline as NVML counts them; where UUIDs show none, all may be
    SELECT r.source_id, c.device_id
    FROM recorded r
    JOIN capture_device c ON c.run_id = $run
    LEFT JOIN (
        SELECT DISTINCT
            d.source_id,
            replace(d.uuid, 'GPU-', '') AS uuid
        FROM device d
        JOIN device_time t ON t.run_id = d.run_id AND t.source_id = d.source_id AND t.device_id = d.device_id
        WHERE d.run_id = $run
    ) d ON d.source_id = r.source_id AND d.uuid = replace(c.uuid, 'GPU-', '')
    QUALIFY (d.uuid IS NOT NULL) = bool_or(d.uuid IS NOT NULL) OVER (PARTITION BY r.source_id)
), sample AS (
    SELECT
        d.pass_id,
        d.device_id,
        epoch_ns(p.started_at)::HUGEINT + d.time_ns AS time_ns,
        d.memory_used_bytes AS bytes
    FROM device_sample d JOIN capture_pass p ON p.run_id = d.run_id AND p.pass_id = d.pass_id
    WHERE d.run_id = $run AND d.memory_used_bytes IS NOT NULL
), span AS ( -- by the wall clock
    SELECT
        r.pass_id,
        w.stage,
        w.range_id,
        w.source_id,
        w.pid,
        epoch_ns(s.started_at)::HUGEINT + w.start_ns AS start_ns,
        epoch_ns(s.started_at)::HUGEINT + w.end_ns AS end_ns
    FROM w
    JOIN source s ON s.run_id = $run AND s.source_id = w.source_id AND s.started_at IS NOT NULL
    JOIN recorded r ON r.source_id = w.source_id
), sampled AS (
    SELECT
        s.pass_id,
        s.stage,
        s.device_id,
        count(DISTINCT w.range_id) AS pass_count,
        count(DISTINCT s.time_ns) AS sample_count,
        max(s.bytes) AS bytes
    FROM (
        SELECT s.pass_id, s.device_id, s.time_ns, s.bytes, x.stage, x.source_id, x.pid
        FROM sample s
        JOIN (SELECT DISTINCT w.pass_id, w.stage, w.source_id, w.pid FROM span w) x ON x.pass_id = s.pass_id
        JOIN used u ON u.source_id = x.source_id AND u.device_id = s.device_id
    ) s
    ASOF JOIN span w
        ON w.pass_id = s.pass_id
        AND w.stage = s.stage
        AND w.source_id = s.source_id
        AND w.pid = s.pid
        AND s.time_ns >= w.start_ns
    WHERE s.time_ns <= w.end_ns
    GROUP BY s.pass_id, s.stage, s.device_id
    UNION ALL
    SELECT
        s.pass_id,
        NULL,
        s.device_id,
        NULL,
        count(*),
        max(s.bytes)
    FROM sample s
    WHERE (s.pass_id, s.device_id) IN (
            SELECT (r.pass_id, u.device_id)
            FROM used u JOIN recorded r ON r.source_id = u.source_id
        )
        OR s.pass_id NOT IN (SELECT r.pass_id FROM recorded r)
        AND (s.device_id IN (SELECT u.device_id FROM used u) OR NOT EXISTS (SELECT 1 FROM used))
    GROUP BY s.pass_id, s.device_id
), timed AS (
    SELECT
        m.pass_id,
        m.pid,
        m.device_id,
        t.stage,
        unnest(
            [
                {
                    'basis': 'torch allocated',
                    'a': m.allocated_before_bytes,
                    'b': m.allocated_after_bytes,
                    'p': m.allocated_peak_before_bytes,
                    'q': m.allocated_peak_after_bytes
                },
                {
                    'basis': 'torch reserved',
                    'a': m.reserved_before_bytes,
                    'b': m.reserved_after_bytes,
                    'p': m.reserved_peak_before_bytes,
                    'q': m.reserved_peak_after_bytes
                }
            ],
            recursive := true
        )
    FROM execution_memory m
    LEFT JOIN _stage_timed t ON t.pass_id = m.pass_id AND t.pid = m.pid AND t.execution_id = m.execution_id
    WHERE m.run_id = $run
), bound AS (
    SELECT
        t.basis,
        t.pass_id,
        t.stage,
        t.pid,
        t.device_id,
        CASE WHEN t.q > t.p OR t.q = t.p AND t.p <= t.a THEN t.q END AS exact,
        greatest(t.a, t.b, exact) AS least,
        coalesce(exact, CASE WHEN t.q >= t.p THEN t.q END) AS most,
        t.q AS peak
    FROM timed t
), helped AS (
    SELECT
        b.basis,
        b.pass_id,
        b.stage,
        b.pid,
        b.device_id,
        count(*) AS pass_count,
        max(b.least) AS least_bytes,
        CASE WHEN count(b.most) = count(*) THEN max(b.most) END AS most_bytes
    FROM bound b
    WHERE b.stage IS NOT NULL
    GROUP BY b.basis, b.pass_id, b.stage, b.pid, b.device_id
    UNION ALL
    SELECT
        b.basis,
        b.pass_id,
        NULL,
        b.pid,
        b.device_id,
        NULL,
        max(b.peak),
        max(b.peak)
    FROM bound b
    GROUP BY b.basis, b.pass_id, b.pid, b.device_id
)
SELECT
    h.basis,
    h.pass_id,
    NULL AS source_id,
    h.stage,
    h.pid,
    h.device_id,
    h.pass_count,
    NULL AS sample_count,
    CASE WHEN h.least_bytes = h.most_bytes THEN h.least_bytes END AS peak_bytes,
    h.least_bytes,
    h.most_bytes
FROM helped h
UNION ALL
SELECT
    a.basis,
    r.pass_id,
    a.source_id,
    a.stage,
    a.pid,
    a.device_id,
    a.pass_count,
    NULL,
    CASE WHEN p.least_bytes >= 0 THEN a.bytes END,
    a.bytes - least(p.least_bytes, 0),
    CASE WHEN p.least_bytes >= 0 THEN a.bytes END
FROM allocated a
JOIN place p
    ON p.basis = a.basis
    AND p.source_id = a.source_id
    AND p.pid IS NOT DISTINCT FROM a.pid
    AND p.device_id IS NOT DISTINCT FROM a.device_id
LEFT JOIN recorded r ON r.source_id = a.source_id
UNION ALL
SELECT
    'nvml used',
    s.pass_id,
    NULL,
    s.stage,
    NULL,
    s.device_id,
    s.pass_count,
    s.sample_count,
    s.bytes,
    s.bytes,
    NULL
FROM sampled s
