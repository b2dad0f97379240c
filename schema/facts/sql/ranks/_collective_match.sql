-- _collective_match: Which collectives of the ranks of a job are one: the first of a kind on each rank, the second, and so on; where ranks
--     have different numbers of a kind, from the one on that makes most of them run at the same time. Of communicators that are not known,
--     streams in the order of their numbers stand for them. Sends and receives are left out, since their order does not tell who the other
--     one is.
-- grain: one collective on one rank
-- key: job_id, match_id, source_id, pid, device_id
-- needs: collective
-- columns:
--   match_id BIGINT: the same for the collectives that are one; 1, 2, ... within the timelines of a kind, in the order of operation,
--     communicator and time
--   job_id INTEGER: the source that started first in the ranks' job
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_id INTEGER: GPU
--   member VARCHAR: the rank in words: by its number where known, else by GPU and process
--   start_ns BIGINT: start on the device, by the source's own clock
--   end_ns BIGINT: end on the device
--   operation VARCHAR: all-reduce, ...; NULL when unknown
--   family VARCHAR: kernel family by kernel_rule; NULL when no rule matches
--   bytes BIGINT: the larger of the bytes a rank sends and receives; NULL when unknown
--   group_count BIGINT: ranks in the communicator; NULL when unknown
--   range_context_id BIGINT: set of ranges around the launch; NULL when the launch was not captured
--   path_id BIGINT: path of these ranges
--   is_whole BOOLEAN: whether all ranks have as many collectives of this kind and communicator
--   group_name VARCHAR: communicator, or the stream that stands for it
--   calls BIGINT: collectives of this kind and communicator on the rank

-- Sources are ranks of one job when they were captured at the same time and have different ranks, or none that is known: repeats of a
-- workload run one after another. Those of several nodes of a job are, whatever their clocks say, in the same recording; the clocks of two
-- machines tell nothing of the order of their collectives. A rank is a process on a GPU. A rank with more or fewer collectives of a kind
-- than others has some of its own, at the start or the end of its capture: each of them votes for the one of the rank with most that it
-- shares most time with, by wall clocks.
WITH s AS (
    SELECT
        s.source_id,
        s.kind,
        s.rank_id,
        epoch_ns(s.started_at) AS begin_ns,
        epoch_ns(s.started_at) + s.duration_ns AS end_ns,
        h.host,
        h.node_rank,
        h.recording
    FROM source s JOIN source_host h ON h.run_id = $run AND h.source_id = s.source_id
    WHERE s.run_id = $run
), near AS (
    SELECT
        a.source_id,
        a.kind,
        a.rank_id,
        a.host,
        a.begin_ns,
        b.source_id AS other_id,
        b.begin_ns AS other_begin_ns,
        b.host AS other_host,
        (coalesce(b.node_rank, 0), coalesce(b.begin_ns, 9223372036854775807), b.source_id) AS place
    FROM s a
    JOIN s b
        ON a.kind = b.kind
        AND (
            a.source_id = b.source_id
            OR a.recording IS NOT DISTINCT FROM b.recording
            AND (
                coalesce(a.node_rank <> b.node_rank, false)
                OR coalesce(a.rank_id <> b.rank_id, true)
                AND coalesce(a.begin_ns < b.end_ns AND b.begin_ns < a.end_ns, a.rank_id <> b.rank_id, false)
            )
        )
), job AS (
    SELECT
        n.source_id,
        any_value(n.kind) AS tool,
        any_value(n.rank_id) AS rank_id,
        arg_min(n.other_id, n.place) AS job_id,
        count(*) AS sources,
        CASE
            WHEN count(*) = 1 THEN 0
            WHEN coalesce(any_value(n.host) <> nullif(arg_min(coalesce(n.other_host, ''), n.place), ''), false)
                THEN NULL
            ELSE any_value(n.begin_ns) - arg_min(coalesce(n.other_begin_ns, -1), n.place)
        END AS offset_ns
    FROM near n
    GROUP BY n.source_id
), c AS (
    SELECT
        j.tool,
        j.job_id,
        j.sources,
        j.offset_ns,
        j.rank_id AS source_rank_id,
        x.source_id,
        x.pid,
        x.device_id,
        x.start_ns,
        x.end_ns,
        x.operation,
        x.family,
        CASE WHEN x.in_bytes IS NOT NULL THEN greatest(x.in_bytes, x.out_bytes) END AS bytes,
        x.group_count,
        x.rank_id,
        x.range_context_id,
        x.path_id,
        coalesce(x.operation, x.family) AS kind,
        coalesce(
            x.group_name,
            'stream '
                || dense_rank() OVER (
                    PARTITION BY x.source_id, x.pid, x.device_id, coalesce(x.operation, x.family), x.group_name
                    ORDER BY x.stream_id
                )
        ) AS group_name
    FROM collective x JOIN job j ON j.source_id = x.source_id
    WHERE x.run_id = $run AND coalesce(x.operation NOT IN ('send', 'recv', 'send-recv'), true)
), own AS ( -- what the process, its helper, or a source with one rank says; else the largest communicator
    SELECT
        c.job_id,
        c.source_id,
        c.pid,
        c.device_id,
        coalesce(
            CASE
                WHEN (SELECT count(DISTINCT (o.pid, o.device_id)) FROM c o WHERE o.source_id = c.source_id) = 1
                    THEN any_value(c.source_rank_id)
            END,
            any_value(p.rank_id),
            any_value(e.rank_id)
        ) AS job_rank_id,
        arg_max(c.rank_id, c.group_count) AS rank_id,
        'GPU '
            || c.device_id
            || coalesce(
                ' ('
                    || nullif(
                        concat_ws(
                            ', ',
                            'pid ' || c.pid,
                            CASE WHEN any_value(c.sources) > 1 THEN 'source ' || c.source_id END
                        ),
                        ''
                    )
                    || ')',
                ''
            ) AS place
    FROM c
    LEFT JOIN process p ON p.run_id = $run AND p.source_id = c.source_id AND p.pid = c.pid
    LEFT JOIN (
        SELECT
            x.captured_source_id AS source_id,
            e.pid,
            min(e.rank_id) AS rank_id
        FROM stage_execution e
        JOIN capture_source x ON x.run_id = e.run_id AND x.pass_id = e.pass_id
        WHERE e.run_id = $run
        GROUP BY x.captured_source_id, e.pid
    ) e ON e.source_id = c.source_id AND e.pid = c.pid
    GROUP BY c.job_id, c.source_id, c.pid, c.device_id
), member AS ( -- a process may drive several GPUs
    SELECT
        o.source_id,
        o.pid,
        o.device_id,
        coalesce(
            CASE WHEN count(*) OVER (PARTITION BY o.job_id, o.job_rank_id) = 1 THEN o.job_rank_id END,
            o.rank_id
        ) AS rank_id,
        o.place
    FROM own o
), counted AS (
    SELECT
        c.tool,
        c.job_id,
        c.offset_ns,
        c.source_id,
        c.pid,
        c.device_id,
        c.start_ns,
        c.end_ns,
        c.operation,
        c.family,
        c.bytes,
        c.group_count,
        c.range_context_id,
        c.path_id,
        c.kind,
        c.group_name,
        row_number() OVER (
            PARTITION BY c.job_id, c.kind, c.group_name, c.source_id, c.pid, c.device_id
            ORDER BY c.start_ns
        ) AS nth,
        count(*) OVER (PARTITION BY c.job_id, c.kind, c.group_name, c.source_id, c.pid, c.device_id) AS calls
    FROM c
), told AS (
    SELECT
        x.tool,
        x.job_id,
        x.source_id,
        x.pid,
        x.device_id,
        x.start_ns,
        x.end_ns,
        x.start_ns + x.offset_ns AS at_ns,
        x.end_ns + x.offset_ns AS until_ns,
        x.operation,
        x.family,
        x.bytes,
        x.group_count,
        x.range_context_id,
        x.path_id,
        x.kind,
        x.group_name,
        x.nth,
        x.calls,
        min(x.calls) OVER g = max(x.calls) OVER g AS is_whole,
        dense_rank() OVER (g ORDER BY x.calls DESC, x.source_id, x.pid, x.device_id) AS place
    FROM counted x
    WINDOW g AS (PARTITION BY x.job_id, x.kind, x.group_name)
), most AS (
    SELECT
        t.job_id,
        t.kind,
        t.group_name,
        t.nth,
        t.at_ns,
        t.until_ns,
        lag(t.at_ns) OVER g AS before_at_ns,
        lag(t.until_ns) OVER g AS before_until_ns
    FROM told t
    WHERE NOT t.is_whole AND t.place = 1
    WINDOW g AS (PARTITION BY t.job_id, t.kind, t.group_name ORDER BY t.nth)
), shared AS (
    SELECT
        t.job_id,
        t.kind,
        t.group_name,
        t.place,
        m.nth - t.nth AS shift,
        least(t.until_ns, m.until_ns) - greatest(t.at_ns, m.at_ns) AS ns,
        least(t.until_ns, m.before_until_ns) - greatest(t.at_ns, m.before_at_ns) AS before_ns
    FROM (
        SELECT t.job_id, t.kind, t.group_name, t.place, t.nth, t.at_ns, t.until_ns
        FROM told t
        WHERE NOT t.is_whole AND t.place > 1
    ) t
    ASOF JOIN most m
        ON m.job_id = t.job_id AND m.kind = t.kind AND m.group_name = t.group_name AND m.at_ns <= t.until_ns
), vote AS (
    SELECT
        s.job_id,
        s.kind,
        s.group_name,
        s.place,
        CASE WHEN s.before_ns > s.ns THEN s.shift - 1 ELSE s.shift END AS shift,
        count(*) AS votes
    FROM shared s
    WHERE greatest(s.ns, s.before_ns) >= 0
    GROUP BY ALL
), best AS (
    SELECT
        v.job_id,
        v.kind,
        v.group_name,
        v.place,
        arg_max(v.shift, (v.votes, -abs(v.shift), v.shift)) AS shift
    FROM vote v
    GROUP BY v.job_id, v.kind, v.group_name, v.place
), n AS (
    SELECT
        t.tool,
        t.job_id,
        t.source_id,
        t.pid,
        t.device_id,
        t.start_ns,
        t.end_ns,
        t.operation,
        t.family,
        t.bytes,
        t.group_count,
        t.range_context_id,
        t.path_id,
        t.kind,
        t.group_name,
        t.calls,
        t.is_whole,
        t.nth + coalesce(b.shift, 0) AS nth,
        count(*) OVER (PARTITION BY t.job_id, t.kind, t.group_name, t.nth + coalesce(b.shift, 0)) AS members
    FROM told t
    LEFT JOIN best b ON b.job_id = t.job_id AND b.kind = t.kind AND b.group_name = t.group_name AND b.place = t.place
)
SELECT
    dense_rank() OVER (PARTITION BY n.tool ORDER BY n.job_id, n.kind, n.group_name, n.nth) AS match_id,
    n.job_id,
    n.source_id,
    n.pid,
    n.device_id,
    coalesce('rank ' || m.rank_id, m.place) AS member,
    n.start_ns,
    n.end_ns,
    n.operation,
    n.family,
    n.bytes,
    n.group_count,
    n.range_context_id,
    n.path_id,
    n.is_whole,
    n.group_name,
    n.calls
FROM n
JOIN member m ON m.source_id = n.source_id AND m.pid IS NOT DISTINCT FROM n.pid AND m.device_id = n.device_id
WHERE n.members > 1
