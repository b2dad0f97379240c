-- _throttle-reason: Reasons for lowered GPU clocks: the bits of NVML's nvmlClocksEventReasons, under nvidia-smi's names
--     (clocks_event_reasons).
-- grain: one reason
-- key: bit_count
-- columns:
--   bit_count: bit position, 0 for the lowest
--   reason: name of the reason
--   is_slowdown: whether clocks are lowered by power or temperature, and not by a setting or idling

SELECT
    x.bit_count::BIGINT AS bit_count,
    x.reason,
    x.is_slowdown
FROM (
    VALUES (0, 'gpu_idle', false), (1, 'applications_clocks_setting', false), (2, 'sw_power_cap', true),
        (3, 'hw_slowdown', true), (4, 'sync_boost', false), (5, 'sw_thermal_slowdown', true),
        (6, 'hw_thermal_slowdown', true), (7, 'hw_power_brake_slowdown', true), (8, 'display_clock_setting', false)
) x(bit_count, reason, is_slowdown)
