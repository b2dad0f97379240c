-- _throttle-reason: Why a GPU's clocks may be held down: the bits of NVML's nvmlClocksEventReasons, named as nvidia-smi names them (clocks_event_reasons).
-- grain: one reason
-- key: bit_count
-- columns:
--   bit_count: place of the bit, 0 for the lowest
--   reason: its name
--   is_slowdown: whether the clock is below what it could be for want of power or cooling, and not by a setting or for want of work

SELECT x.bit_count::BIGINT AS bit_count, x.reason, x.is_slowdown
FROM (VALUES
    (0, 'gpu_idle', false), (1, 'applications_clocks_setting', false), (2, 'sw_power_cap', true), (3, 'hw_slowdown', true), (4, 'sync_boost', false),
    (5, 'sw_thermal_slowdown', true), (6, 'hw_thermal_slowdown', true), (7, 'hw_power_brake_slowdown', true), (8, 'display_clock_setting', false)
) x(bit_count, reason, is_slowdown)
