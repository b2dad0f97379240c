-- _resident-block: Resident blocks of a kernel per SM, by NVIDIA's occupancy calculation: limits of warps, registers, shared memory and
--     blocks.
-- grain: one value
-- key: none
-- scalar: a formula
-- params:
--   capability VARCHAR: compute capability, e.g. 9.0
--   max_warps BIGINT: maximum warps per SM
--   sm_shared_bytes BIGINT: shared memory per SM
--   threads BIGINT: threads per block
--   registers BIGINT: registers per thread
--   shared_bytes BIGINT: shared memory per block
-- columns:
--   blocks: resident blocks per SM; NULL when a limit is unknown

-- Maxima of blocks by the CUDA C++ Programming Guide, table of technical specifications by compute capability. list_min passes over NULLs.
CASE
    WHEN threads > 0
        AND registers >= 0
        AND shared_bytes >= 0
        AND max_warps > 0
        AND sm_shared_bytes > 0
        AND capability IN (
            '7.0', '7.2', '7.5', '8.0', '8.6', '8.7', '8.9', '9.0', '10.0', '10.3', '11.0', '12.0', '12.1'
        )
        THEN nullif(
            list_min([
                max_warps // ((threads + 31) // 32),
                -- 65,536 registers in four parts, given to a warp in units of 256; the system takes 1 KiB of a block's shared memory from
                -- 8.0 on, in units of 128 bytes
                CASE WHEN registers = 0 THEN max_warps ELSE (16384 // ((registers * 32 + 255) // 256 * 256)) * 4 END
                    // ((threads + 31) // 32),
                sm_shared_bytes
                    // nullif(
                        (shared_bytes + CASE WHEN try_cast(capability AS DOUBLE) >= 8 THEN 1024 ELSE 0 END + 127)
                            // 128
                            * 128,
                        0
                    ),
                CASE
                    WHEN capability IN ('7.5', '8.6', '8.7') THEN 16
                    WHEN capability IN ('8.9', '12.0', '12.1') THEN 24
                    ELSE 32
                END
            ]),
            0
        )
END
