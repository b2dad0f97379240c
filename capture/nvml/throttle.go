package nvml

// ThrottleReason is one bit of the mask in which NVML says why a GPU's clocks are not as high as they could be
// (nvmlClocksEventReasons, before R535 nvmlClocksThrottleReasons).
type ThrottleReason struct {
	Bit   int64
	Name  string // short, as in nvidia-smi's query names
	Slows bool   // whether it holds work down, rather than telling that there is none or how clocks were set
	Doc   string
}

// Bits of NVML's mask. They are written out since NVML's header is not there on every platform; a test compares them with it.
const (
	throttleIdle          = 0x1
	throttleApplication   = 0x2
	throttleSWPower       = 0x4
	throttleHW            = 0x8
	throttleSyncBoost     = 0x10
	throttleSWThermal     = 0x20
	throttleHWThermal     = 0x40
	throttleHWPowerBrake  = 0x80
	throttleDisplayClocks = 0x100
)

// ThrottleReasons are the bits that NVML documents, lowest first. hw_slowdown is set together with the bit that says more
// (hw_thermal_slowdown, hw_power_brake_slowdown), and by fast power protection alone.
var ThrottleReasons = []ThrottleReason{
	{throttleIdle, "gpu_idle", false, "nothing runs on the GPU, so its clocks drop"},
	{throttleApplication, "applications_clocks_setting", false, "clocks are limited to the application clocks that were set"},
	{throttleSWPower, "sw_power_cap", true, "clocks are lowered to stay within the power limit"},
	{throttleHW, "hw_slowdown", true, "the hardware lowered clocks: temperature, external power brake or fast power protection"},
	{throttleSyncBoost, "sync_boost", false, "clocks follow the slowest GPU of a sync boost group"},
	{throttleSWThermal, "sw_thermal_slowdown", true, "the driver lowered clocks to limit the temperature of the chip or its memory"},
	{throttleHWThermal, "hw_thermal_slowdown", true, "the chip is too hot: clocks are halved or less"},
	{throttleHWPowerBrake, "hw_power_brake_slowdown", true, "the power supply requested less power: clocks are halved or less"},
	{throttleDisplayClocks, "display_clock_setting", false, "clocks are limited by the display clocks"},
}

// SlowingMask has every bit that holds work down.
func SlowingMask() (mask int64) {
	for _, r := range ThrottleReasons {
		if r.Slows {
			mask |= r.Bit
		}
	}
	return mask
}

// ThrottleNames returns the names of the bits of a mask that hold work down, lowest first. Bits that NVML does not document are left
// out: what they mean is not known.
func ThrottleNames(mask int64) (names []string) {
	for _, r := range ThrottleReasons {
		if r.Slows && mask&r.Bit != 0 {
			names = append(names, r.Name)
		}
	}
	return names
}
