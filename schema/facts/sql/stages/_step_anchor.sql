-- _step_anchor: What recurs once in a step in the sources without step ranges, by process and GPU: a kernel or graph replay whose
--     occurrences are equally many kernels apart.
-- grain: one process and GPU on which something recurs
-- key: place
-- needs: _step_work
-- columns:
--   place UBIGINT: as in _step_work
--   is_replay BOOLEAN: whether it is a graph replay
--   work_id BIGINT: the kernel's name or the graph, as in _step_work
--   period_count BIGINT: median number of kernels and replays from one occurrence to the next

-- A distance is even when it is within 0.8 to 1.25 of the median of its kernel's distances: steps may differ in kernels (routing of
-- experts) and have prompts between. Of a kernel that recurs, 80 % of the distances are even, and these together hold half of the kernels;
-- one that occurs less than 10 times must have 80 % alike, since few distances are even by chance. Replays whose kernels were not traced
-- hold half of the device time instead. Layers recur in steps, and steps in passes: a step is where a token is chosen, or such a replay;
-- else the longest period. Of several kernels with that period the rarest (it is not in prompts too) and first (it begins the step) is
-- taken.
WITH item AS ( -- the work is sorted: numbering it by a window of its own would sort millions of rows again
    SELECT
        w.place,
        w.is_replay,
        w.work_id,
        w.duration_ns,
        row_number() OVER () AS nth
    FROM _step_work w
    WHERE w.work_id IS NOT NULL AND w.source_id IN (SELECT s.source_id FROM _step_source s WHERE s.is_recurring)
), far AS (
    SELECT
        i.place,
        i.is_replay,
        i.work_id,
        i.duration_ns,
        i.nth,
        i.nth - lag(i.nth) OVER (PARTITION BY hash(i.place, i.work_id) ORDER BY i.nth) AS distance
    FROM item i
), spread AS MATERIALIZED ( -- how often each distance occurs; NULL for the first occurrence
    SELECT
        f.place,
        f.is_replay,
        f.work_id,
        f.distance,
        count(*) AS n,
        sum(f.duration_ns) AS work_ns,
        min(f.nth) AS first_nth
    FROM far f
    GROUP BY ALL
), whole AS (
    SELECT
        s.place,
        sum(s.n) AS n,
        sum(s.work_ns) AS work_ns
    FROM spread s
    GROUP BY s.place
), ranked AS (
    SELECT
        s.place,
        s.is_replay,
        s.work_id,
        s.distance,
        s.n,
        s.work_ns,
        s.first_nth,
        sum(CASE WHEN s.distance IS NOT NULL THEN s.n END) OVER (
            PARTITION BY s.place, s.work_id
            ORDER BY s.distance
        ) AS upto,
        sum(CASE WHEN s.distance IS NOT NULL THEN s.n END) OVER (PARTITION BY s.place, s.work_id) AS distances
    FROM spread s
), typical AS (
    SELECT
        r.place,
        r.is_replay,
        r.work_id,
        r.distance,
        r.n,
        r.work_ns,
        r.first_nth,
        r.distances,
        min(CASE WHEN 2 * r.upto >= r.distances THEN r.distance END) OVER (PARTITION BY r.place, r.work_id) AS period
    FROM ranked r
    WHERE r.distances >= 2
), even AS (
    SELECT
        t.place,
        t.is_replay,
        t.work_id,
        t.distances,
        t.period,
        min(t.first_nth) AS first_nth,
        sum(t.work_ns) AS work_ns,
        max(CASE WHEN t.distance IS NOT NULL THEN t.n END) AS alike_count,
        sum(t.n) FILTER (t.distance BETWEEN 0.8 * t.period AND 1.25 * t.period) AS even_count,
        sum(t.n * t.distance) FILTER (t.distance BETWEEN 0.8 * t.period AND 1.25 * t.period) AS held_count
    FROM typical t
    GROUP BY ALL
), candidate AS (
    SELECT
        e.place,
        e.is_replay,
        e.work_id,
        e.distances,
        e.period,
        e.first_nth,
        e.is_replay AND e.work_ns > 0 OR coalesce(c.role = 'sampling', false) AS is_sure
    FROM even e
    JOIN whole w ON w.place = e.place
    LEFT JOIN kernel_class c ON c.run_id = $run AND c.kernel_name_id = e.work_id
    WHERE e.even_count >= 0.8 * e.distances
        AND (e.distances >= 9 OR e.alike_count >= 0.8 * e.distances)
        AND (e.held_count >= 0.5 * w.n OR e.is_replay AND e.work_ns >= 0.5 * w.work_ns AND e.work_ns > 0)
), level AS (
    SELECT
        c.place,
        coalesce(max(c.period) FILTER (c.is_sure), max(c.period)) AS period
    FROM candidate c
    GROUP BY c.place
)
SELECT
    c.place,
    c.is_replay,
    c.work_id,
    c.period AS period_count
FROM candidate c JOIN level l ON l.place = c.place
WHERE c.period BETWEEN 0.9 * l.period AND 1.1 * l.period
QUALIFY row_number() OVER (PARTITION BY c.place ORDER BY c.distances, c.first_nth, c.is_replay DESC, c.work_id) = 1
