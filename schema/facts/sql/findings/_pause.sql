-- _pause: What a process did in idle gaps of its GPUs that has a name of its own: Python's garbage collector, compilers, waiting for
--     Python's lock (the GIL), CUDA calls that load code or allocate memory.
-- grain: one collection, compilation or call and one gap that it is in
-- key: source_id, device_id, gap_start_ns, cause, pid, tid, start_ns, name
-- needs: gap
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   gap_start_ns BIGINT: start of the gap
--   cause VARCHAR: collect (Python's garbage collector, on any thread of the process that launches next: none can run Python meanwhile),
--     compile (torch.compile, likewise), gil, allocate or load (waits and calls of the thread that launches next)
--   pid INTEGER: process
--   tid INTEGER: thread
--   name VARCHAR: the range or function
--   start_ns BIGINT: start of what is in the gap
--   end_ns BIGINT: end of it
--   begun_ns BIGINT: start of the whole, which may be before the gap
--   is_failed BOOLEAN: whether it is a call that found no memory (error 2 of CUDA and HIP); NULL when not recorded

-- PyTorch and TensorRT-LLM name the collector's ranges `Python GC`, PyTorch ends those of its compiler with `(dynamo_timed)`, and Nsight
-- Systems (--trace=python-gil) has waits for the lock as NVTX ranges.
WITH kind AS (
    SELECT
        p.path_id,
        CASE
            WHEN starts_with(p.name, 'Python GC') THEN 'collect'
            WHEN p.name = 'Waiting for GIL' THEN 'gil'
            ELSE 'compile'
        END AS cause
    FROM range_path p
    WHERE p.run_id = $run
        AND (
            starts_with(p.name, 'Python GC')
            OR p.name = 'Waiting for GIL'
            OR p.name = 'torch.compile'
            OR ends_with(p.name, ' (dynamo_timed)')
        )
), did AS (
    SELECT
        n.source_id,
        k.cause,
        n.pid,
        n.tid,
        n.name,
        n.start_ns,
        n.start_ns + n.duration_ns AS end_ns,
        NULL::BOOLEAN AS is_failed
    FROM nvtx_range n JOIN kind k ON k.path_id = n.path_id
    WHERE n.run_id = $run AND n.duration_ns > 0
    UNION ALL
    SELECT
        c.source_id,
        'collect',
        c.pid,
        c.tid,
        s.function,
        c.start_ns,
        c.start_ns + c.duration_ns,
        NULL
    FROM python_call c
    JOIN python_stack s ON s.run_id = $run AND s.stack_id = c.stack_id AND s.function = 'Python GC'
    WHERE c.run_id = $run AND c.duration_ns > 0
    UNION ALL
    SELECT
        a.source_id,
        CASE o.kind WHEN 'allocate' THEN 'allocate' ELSE 'load' END,
        a.pid,
        a.tid,
        n.name,
        a.start_ns,
        a.start_ns + a.duration_ns,
        a.return_value = 2
    FROM api_call a
    JOIN _one_time_call o ON o.api_name_id = a.api_name_id AND o.kind <> 'graph'
    JOIN api_name n ON n.run_id = $run AND n.api_name_id = a.api_name_id
    WHERE a.run_id = $run
        AND a.duration_ns >= 5000
        AND (
            a.duration_ns >= 100000
            OR NOT regexp_matches(n.name, '(Func|Kernel)(GetAttribute|SetAttribute|GetFunction)')
        ) -- shorter calls are stored as sums; of short ones these found it loaded
    UNION ALL
    SELECT
        a.source_id,
        'load',
        a.pid,
        a.tid,
        n.name,
        a.start_ns,
        a.start_ns + a.duration_ns,
        NULL -- of a kernel that was not loaded yet
    FROM api_call a JOIN api_name n ON n.run_id = $run AND n.api_name_id = a.api_name_id
    WHERE a.run_id = $run AND a.duration_ns >= 100000 AND contains(n.name, 'Launch') AND NOT contains(n.name, 'Graph')
), g AS ( -- gaps of a GPU do not overlap, so those that something overlaps follow each other
    SELECT
        g.source_id,
        g.device_id,
        g.pid,
        g.tid,
        g.start_ns,
        g.start_ns + g.duration_ns AS end_ns,
        row_number() OVER (PARTITION BY g.source_id, g.device_id, g.pid ORDER BY g.start_ns) AS place
    FROM gap g
    WHERE g.run_id = $run AND g.tid IS NOT NULL AND EXISTS (SELECT 1 FROM did)
), gpu AS (
    SELECT DISTINCT g.source_id, g.device_id, g.pid
    FROM g
), had AS (
    SELECT
        d.source_id,
        p.device_id,
        d.cause,
        d.pid,
        d.tid,
        d.name,
        d.start_ns,
        d.end_ns,
        d.is_failed
    FROM did d JOIN gpu p ON p.source_id = d.source_id AND p.pid = d.pid
), begun AS (
    SELECT
        h.source_id,
        h.device_id,
        h.cause,
        h.pid,
        h.tid,
        h.name,
        h.start_ns,
        h.end_ns,
        h.is_failed,
        g.place AS first_place
    FROM had h
    ASOF JOIN g ON g.source_id = h.source_id AND g.device_id = h.device_id AND g.pid = h.pid AND h.start_ns < g.end_ns
), meets AS (
    SELECT
        b.source_id,
        b.device_id,
        b.cause,
        b.pid,
        b.tid,
        b.name,
        b.start_ns,
        b.end_ns,
        b.is_failed,
        unnest(range(b.first_place, g.place + 1)) AS place
    FROM begun b
    ASOF JOIN g ON g.source_id = b.source_id AND g.device_id = b.device_id AND g.pid = b.pid AND b.end_ns > g.start_ns
)
SELECT
    m.source_id,
    m.device_id,
    g.start_ns AS gap_start_ns,
    m.cause,
    m.pid,
    m.tid,
    m.name,
    greatest(m.start_ns, g.start_ns) AS start_ns,
    least(m.end_ns, g.end_ns) AS end_ns,
    m.start_ns AS begun_ns,
    m.is_failed
FROM meets m
JOIN g ON g.source_id = m.source_id AND g.device_id = m.device_id AND g.pid = m.pid AND g.place = m.place
WHERE m.cause IN ('collect', 'compile') OR m.tid = g.tid
