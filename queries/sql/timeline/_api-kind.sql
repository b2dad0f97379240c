-- _api-kind: What a function of the CUDA runtime, the driver or HIP does, by its name. Functions that build graphs launch nothing.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   api VARCHAR: the function
-- columns:
--   kind: launch (of kernels and graphs), copy (of memory, and fills), sync (waits for the GPU) or other

CASE
    WHEN contains(api, 'GraphLaunch') THEN 'launch'
    WHEN contains(api, 'Graph') THEN 'other'
    WHEN contains(api, 'Synchronize') THEN 'sync'
    WHEN contains(api, 'Memcpy') OR contains(api, 'Memset') THEN 'copy'
    WHEN contains(api, 'Launch') THEN 'launch'
    ELSE 'other'
END
