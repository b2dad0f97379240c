-- _step_path: Paths of ranges that are steps by their names: an iteration of decode, of generation, of training, or a forward pass that a
--     serving engine annotates.
-- grain: one path of range names
-- key: path_id
-- needs: nvtx_range
-- columns:
--   path_id BIGINT: path whose innermost range is a step
--   name_path_id BIGINT: least path_id here with the same normalised name, which stands for the name
--   is_profiler BOOLEAN: whether it is ProfilerStep#
--   stage VARCHAR: stage that it is in, by stage_rule; NULL when in none
--   stage_path_id BIGINT: path of the pass of that stage
--   is_warmup BOOLEAN: whether a warm-up rule matches a range of the path

-- Names: an optional place (`LLM@`, `[Executor] _`), words of what is stepped, step or iter(ation), and what distinguishes one from the
-- next (`[#]`, `##`, ` #: 0 ctx reqs, ...`). Optimizer.step#AdamW.step and step_time are none. Of nested steps the outermost counts, but
-- ProfilerStep# of PyTorch gives way to steps inside it: one call of its step() may hold a whole generation.
WITH p AS (
    SELECT
        p.path_id,
        p.name,
        array_pop_back(p.lineage) AS above,
        starts_with(p.name, 'ProfilerStep') AS is_profiler
    FROM range_path p
    WHERE p.run_id = $run
        AND (
            regexp_matches(
                p.name,
                '(?i)^(?:[\w.-]+(?:@|/|: ?))?(?:\[\w+\] ?)?_?(?:(?:llm|model|engine|run|forward|prefill|decod(?:e|ing)|gen|generat(?:e|ion)|token|infer(?:ence)?|serv(?:e|ing)|train(?:ing)?|eval|validation|global|main|loop|batch|mixed|sampling|denois(?:e|ing)|diffusion|profiler|bench(?:mark)?)[ _.-]?)*(?:step|iter|iteration|(?:decode|generate)[ _-]?forward)(?:[\[(].*[\])]|[#:,_ =-]*(?:\w+=|#|\d).*)?$'
            )
            OR regexp_matches(p.name, '^execute_(?:(?:[\d#]+_)?context_.*_generation_|new_[\d#]+_cached_[\d#]+$)')
        )
), own AS (
    SELECT
        list(p.path_id) AS paths,
        coalesce(flatten(list(p.above)), []) AS above
    FROM p
    WHERE NOT p.is_profiler
), profiler AS (
    SELECT list(p.path_id) AS paths
    FROM p
    WHERE p.is_profiler
)
SELECT
    p.path_id,
    min(p.path_id) OVER (PARTITION BY p.name) AS name_path_id,
    p.is_profiler,
    s.stage,
    s.stage_path_id,
    coalesce(s.is_warmup, false) AS is_warmup
FROM p
CROSS JOIN own
CROSS JOIN profiler
LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = p.path_id
WHERE NOT list_has_any(p.above, coalesce(own.paths, []))
    AND NOT (p.is_profiler AND (list_has_any(p.above, profiler.paths) OR list_contains(own.above, p.path_id)))
