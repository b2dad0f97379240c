-- ncu-samples v1: Throughput over the time of profiled launches, by PM samples of Nsight Compute. Samples of one value in a row are one row
-- grain: one metric over one part of one profiled launch's time
-- key: launch, metric, start_ns
-- notes: ncu courses
-- params:
--   run VARCHAR: the run
--   metric VARCHAR = NULL: only metrics whose name matches this glob (* any text, ? one character); several separated by commas
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   launch BIGINT = NULL: only this launch
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
--   top BIGINT = 0: maximum launches, the longest ones; 0 for all
-- columns:
--   launch: launch number in the run; in a run with one report, ncu's ID
--   kernel: kernel name as Nsight Compute spells it; of a range or graph, its kind
--   label: name of the metric on ncu's own timeline; NULL when it is not there
--   metric: ncu metric name
--   start_ns: start, from the launch's in the pass that sampled the metric; negative of a sample that began before the launch
--   end_ns: end
--   value: mean of the samples, in unit
--   unit: ncu base unit (% is 0-100); empty for a plain number, NULL when unknown
--   samples: samples in the row

WITH picked AS (
    SELECT n.metric_id, n.name, n.unit
    FROM ncu_metric_name n
    WHERE n.run_id = run AND _fits(n.name, metric)
), label AS (
    SELECT
        s.metric_id,
        min(s.position) AS position,
        arg_min(s.label, (s.position, s.section)) AS label
    FROM ncu_section s
    WHERE s.run_id = run
    GROUP BY s.metric_id
), ran AS (
    SELECT
        x.launch_id,
        max(x.end_ns) AS end_ns
    FROM ncu_sample x
    WHERE x.run_id = run
    GROUP BY x.launch_id
), of AS (
    SELECT
        r.launch_id,
        coalesce(k.name, l.kind) AS kernel,
        row_number() OVER (
            ORDER BY r.end_ns DESC, r.launch_id
        ) AS rank
    FROM ran r
    JOIN ncu_launch l ON l.run_id = run AND l.launch_id = r.launch_id
    LEFT JOIN kernel_name k ON k.run_id = l.run_id AND k.kernel_name_id = l.kernel_name_id
    LEFT JOIN ncu_measure m ON m.run_id = l.run_id AND m.launch_id = l.launch_id
    WHERE (launch IS NULL OR _id_number(r.launch_id) - 1 = launch)
        AND (kernel IS NULL OR contains(lower(coalesce(k.name, l.kind)), lower(kernel)))
        AND (stage IS NULL OR coalesce(m.stage, '(none)') = stage)
)
SELECT
    _id_number(x.launch_id) - 1 AS launch,
    o.kernel,
    b.label,
    n.name AS metric,
    x.start_ns,
    x.end_ns,
    x.value,
    n.unit,
    x.sample_count AS samples
FROM ncu_sample x
JOIN of o ON o.launch_id = x.launch_id
JOIN picked n ON n.metric_id = x.metric_id
LEFT JOIN label b ON b.metric_id = x.metric_id
WHERE x.run_id = run AND (top = 0 OR o.rank <= top)
ORDER BY o.rank, b.position, n.name, x.start_ns
