-- _critical_row: What ingest/critical finds of the steps of _critical_window.
-- grain: one piece of a path, one thing on it, or one step
-- key: step_id, row_kind, nth
-- needs: _critical_window kernel|memop|graph_launch|rank_wait
-- columns:
--   step_id BIGINT: the step, as in _critical_window
--   row_kind VARCHAR: segment, what-if or step
--   nth BIGINT: 1, 2, ... within the step and kind
--   grouping_kind VARCHAR: for what-if, what it adds up
--   cause VARCHAR: what the time went to
--   kernel_name_id BIGINT: kernel
--   operation VARCHAR: copy, fill or graph replay
--   family VARCHAR: family of kernels
--   api_name_id BIGINT: API function
--   name_path_id BIGINT: range, by the least path with its name
--   op_name_id BIGINT: operator
--   device_id INTEGER: GPU
--   stream_id INTEGER: CUDA stream
--   tid INTEGER: thread
--   start_ns BIGINT: start
--   duration_ns BIGINT: time on the path
--   piece_count BIGINT: pieces on the path
--   saving_ns BIGINT: by how much the step would be shorter
--   reason VARCHAR: why a step has no path, or no segments

SELECT
    v[1]::BIGINT AS step_id,
    v[2] AS row_kind,
    v[3]::BIGINT AS nth,
    nullif(v[4], '') AS grouping_kind,
    nullif(v[5], '') AS cause,
    nullif(v[6], '')::BIGINT AS kernel_name_id,
    nullif(v[7], '') AS operation,
    nullif(v[8], '') AS family,
    nullif(v[9], '')::BIGINT AS api_name_id,
    nullif(v[10], '')::BIGINT AS name_path_id,
    nullif(v[11], '')::BIGINT AS op_name_id,
    nullif(v[12], '')::INTEGER AS device_id,
    nullif(v[13], '')::INTEGER AS stream_id,
    nullif(v[14], '')::INTEGER AS tid,
    nullif(v[15], '')::BIGINT AS start_ns,
    nullif(v[16], '')::BIGINT AS duration_ns,
    nullif(v[17], '')::BIGINT AS piece_count,
    nullif(v[18], '')::BIGINT AS saving_ns,
    nullif(v[19], '') AS reason
FROM (SELECT string_split(unnest(string_split($critical, chr(30))), chr(31)) AS v)
WHERE len(v) > 1
