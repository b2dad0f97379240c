-- _unmet: Launches without device work that are evidence of a loss.
-- grain: one function of one thread in one set of ranges
-- key: source_id, pid, tid, range_context_id, api_name_id
-- needs: unmet_launch
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: calling process
--   range_context_id BIGINT: the set of ranges the calls were made in; 0 outside every range
--   path_id BIGINT: the path of names of these ranges
--   call_count BIGINT: calls
--   first_start_ns BIGINT: start of the first of them

-- Copies within a process and fills of no bytes have calls and no records: of copies those count that are asynchronous. Ranges of CUPTI may be counted in place of kernels.
SELECT u.source_id, u.pid, u.range_context_id, u.path_id, u.call_count, u.first_start_ns
FROM unmet_launch u JOIN api_name n ON n.run_id = u.run_id AND n.api_name_id = u.api_name_id
WHERE u.run_id = $run AND (u.kind IN ('kernel', 'graph') OR u.kind = 'copy' AND (contains(n.name, 'Async') OR contains(n.name, 'WithStream')))
    AND u.source_id NOT IN (SELECT p.source_id FROM ncu_launch p WHERE p.run_id = $run)
