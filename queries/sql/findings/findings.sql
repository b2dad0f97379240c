-- findings v1: What could make the work faster, ranked by the time that it could save over the measured passes. Savings overlap and do not add up; what each rule is and what to do about it is in finding-rules.
-- grain: one rule, stage and subject, on the GPU where it could save most
-- key: rank
-- notes: finding-span accounting pass throttle timelines finding launch stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for all device work of a run without measured passes
--   top BIGINT = 20: rows at most; 0 for all
--   min_share DOUBLE = 0.01: only what could save at least this share of its stage
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   rank: place by saving_ns
--   finding: name of the rule
--   stage: the stage; NULL: all device work of a run without measured passes
--   saving_ns: what could be saved over all measured passes of the stage on the GPU
--   share_ratio: saving_ns as a share of the spans of these passes
--   bound: at most: more cannot be gained by it; about: an estimate
--   title: what it is
--   evidence: the numbers that it follows from
--   subject: kernel, family of kernels, API function or path of ranges that it is most about; NULL when none
--   advice: what to do about it
--   device: GPU where it could save most
--   device_count: GPUs on which it could save at least min_share
--   run_device_count: GPUs that passes of the run have work on
--   passes: measured passes of the stage on that GPU
--   span_ns: sum of their spans
--   evidence_query: SQL of the rows behind it
--   command: the same as a command
--   detail_command: command that shows more of it; NULL when there is none

WITH found_pass AS MATERIALIZED (
    SELECT p.range_id, p.stage FROM _finding_pass(run, source := source) p
), found_place AS MATERIALIZED (
    SELECT p.range_context_id, p.stage, p.range_id FROM _finding_place(run, pass := 'found_pass', source := source) p
), found_span AS MATERIALIZED (
    SELECT s.stage, s.device, s.passes, s.span_ns, s.busy_ns, s.graph_ns, s.kernel_ns, s.copy_ns, s.launch_ns, s.late_ns, s.launch_spread, s.wait_ns, s.wait_spread, s.call_ns, s.call_spread, s.host_ns, s.host_spread, s.queued_ns, s.queued_spread, s.gap_count FROM _finding_span(run, pass := 'found_pass', source := source) s
), found_work AS MATERIALIZED (
    SELECT w.stage, w.device, w.kernel_name_id, w.grid, w.block, w.block_count, w.thread_count, w.register_count, w.shared_bytes, w.is_graph, w.calls, w.total_ns, w.device_ns FROM _finding_work(run, span := 'found_span', place := 'found_place', source := source) w
), found_call AS MATERIALIZED (
    SELECT c.stage, c.device, c.api, c.kind, c.calls, c.total_ns FROM _finding_call(run, pass := 'found_pass', place := 'found_place', source := source) c
), found_profile AS MATERIALIZED (
    SELECT f.stage, f.device, f.kernel, f.grid, f.block, f.bound, f.limiter, f.roof_ratio, f.occupancy_ratio, f.calls, f.total_ns, f.device_ns FROM _finding_profile(run, work := 'found_work', source := source) f
), found_launch AS MATERIALIZED (
    SELECT l.stage, l.device, l.idle_ns, l.graph_ratio, l.replays, l.is_graph, l.evidence, l.single_text, l.replay_text FROM _finding_launch(run, span := 'found_span', place := 'found_place', work := 'found_work', source := source) l
), u AS (
    FROM _finding_launch_bound(run, launch := 'found_launch', source := source)
    UNION ALL FROM _finding_graph_gaps(run, launch := 'found_launch', source := source)
    UNION ALL FROM _finding_host_waits(run, span := 'found_span', call := 'found_call', source := source)
    UNION ALL FROM _finding_cuda_calls(run, span := 'found_span', call := 'found_call', source := source)
    UNION ALL FROM _finding_host_bound(run, pass := 'found_pass', span := 'found_span', source := source)
    UNION ALL FROM _finding_device_latency(run, span := 'found_span', source := source)
    UNION ALL FROM _finding_elementwise_chains(run, place := 'found_place', work := 'found_work', source := source)
    UNION ALL FROM _finding_small_grids(run, work := 'found_work', source := source)
    UNION ALL FROM _finding_wave_tail(run, work := 'found_work', source := source)
    UNION ALL FROM _finding_below_roof(run, profile := 'found_profile', source := source)
    UNION ALL FROM _finding_low_occupancy(run, profile := 'found_profile', source := source)
    UNION ALL FROM _finding_pageable_copies(run, span := 'found_span', place := 'found_place', source := source)
    UNION ALL FROM _finding_exposed_collectives(run, pass := 'found_pass', source := source)
    UNION ALL FROM _finding_throttling(run, span := 'found_span', source := source)
), f AS (
    SELECT u.finding, u.stage, u.device, u.subject, u.saving_ns, u.evidence, u.saving_ns / s.span_ns AS share_ratio, s.passes, s.span_ns, r.bound, r.title, r.advice, r.query, r.options, r.detail,
        count(*) OVER of AS device_count, row_number() OVER (of ORDER BY u.saving_ns DESC, u.device) AS place
    FROM u JOIN found_span s ON s.stage IS NOT DISTINCT FROM u.stage AND s.device = u.device JOIN finding_rules_v1 r ON r.finding = u.finding
    WHERE CASE WHEN min_share < 0 OR min_share > 1 THEN error('ARGUMENT: --min-share is a share: 0.01 for 1 %')::BOOLEAN ELSE u.saving_ns > 0 AND u.saving_ns >= min_share * s.span_ns END AND (stage IS NULL OR coalesce(u.stage, '(none)') = stage)
    WINDOW of AS (PARTITION BY u.finding, u.stage, CASE WHEN r.subject = 'kernel' THEN u.subject END)
), q AS (
    SELECT row_number() OVER (ORDER BY f.saving_ns DESC, f.finding, f.stage, f.subject) AS rank, f.finding, f.stage, f.saving_ns, f.share_ratio, f.bound, f.title, f.evidence, f.subject, f.advice, f.device, f.device_count, f.passes, f.span_ns,
        CASE WHEN f.query = 'pass-accounting' AND f.stage IS NULL THEN 'accounting' ELSE f.query END AS query, f.options, f.detail
    FROM f WHERE f.place = 1
), t AS (
    SELECT q.rank, q.finding, q.stage, q.saving_ns, q.share_ratio, q.bound, q.title, q.evidence, q.subject, q.advice, q.device, q.device_count, n.gpus AS run_device_count, q.passes, q.span_ns, q.query, n.run_name,
        CASE WHEN contains(q.options, 'stage') THEN q.stage END AS of_stage, CASE WHEN contains(q.options, 'device') THEN q.device END AS of_device, CASE WHEN contains(q.options, 'kernel') THEN q.subject END AS of_kernel,
        CASE WHEN contains(q.options, 'source') THEN source END AS of_source, contains(q.options, 'top') AS is_all, contains(q.options, 'by') AS is_by, CASE WHEN q.detail <> 'slow-ranks' OR n.ranks > 1 THEN q.detail END AS detail
    FROM q CROSS JOIN (
        SELECT (SELECT x.name FROM run x WHERE x.run_id = run) AS run_name, (SELECT count(DISTINCT s.device) FROM found_span s) AS gpus,
            (SELECT count(DISTINCT (t.source_id, t.device_id)) FROM device_time t WHERE t.run_id = run AND t.range_id IS NULL AND t.source_id IN (SELECT c.source_id FROM _timeline(run, source := source) c)) AS ranks
    ) n
    WHERE top = 0 OR q.rank <= top
)
SELECT t.rank, t.finding, t.stage, t.saving_ns, t.share_ratio, t.bound, t.title, t.evidence, t.subject, t.advice, t.device, t.device_count, t.run_device_count, t.passes, t.span_ns,
    concat('FROM ', replace(t.query, '-', '_'), '(', concat_ws(', ', _sql_text(t.run_name), CASE WHEN t.is_all THEN 'top := 0' END, CASE WHEN t.is_by THEN 'by := ''family''' END, 'stage := ' || _sql_text(t.of_stage), 'device := ' || t.of_device, 'kernel := ' || _sql_text(t.of_kernel), 'source := ' || _sql_text(t.of_source)), ')') AS evidence_query,
    concat_ws(' ', 'prof query', t.query, '--run ' || _shell_word(t.run_name), '--stage ' || _shell_word(t.of_stage), '--device ' || t.of_device, '--kernel ' || _shell_word(t.of_kernel), CASE WHEN t.is_by THEN '--by family' END, CASE WHEN t.is_all THEN '--top 0' END, '--source ' || _shell_word(t.of_source)) AS command,
    CASE WHEN t.detail IS NOT NULL THEN concat_ws(' ', 'prof query', t.detail, '--run ' || _shell_word(t.run_name), CASE WHEN t.detail <> 'slow-ranks' THEN '--stage ' || _shell_word(t.of_stage) END, CASE WHEN t.detail = 'gaps' THEN '--device ' || t.of_device END, '--source ' || _shell_word(source)) END AS detail_command
FROM t
ORDER BY t.rank
