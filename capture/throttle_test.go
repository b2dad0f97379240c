package capture

import (
	"slices"
	"testing"
)

func TestThrottleNames(t *testing.T) {
	for mask, want := range map[int64][]string{
		0:             nil,
		0x1:           nil,
		0x1 | 0x2:     nil,
		0x4 | 0x1:     {"sw_power_cap"},
		0x8 | 0x40:    {"hw_slowdown", "hw_thermal_slowdown"},
		0x20 | 0x8000: {"sw_thermal_slowdown"},
		0x8000:        nil,
	} {
		if got := ThrottleNames(mask); !slices.Equal(got, want) {
			t.Errorf("%#x: %v, want %v", mask, got, want)
		}
	}
	if SlowingMask() != 0x1fc {
		t.Errorf("slowing mask %#x", SlowingMask())
	}
}

func TestThrottleReasons(t *testing.T) {
	names := map[string]bool{}
	for i, r := range ThrottleReasons {
		if r.Bit != 1<<i || r.Name == "" || names[r.Name] || r.Doc == "" {
			t.Errorf("%d: %+v", i, r)
		}
		names[r.Name] = true
	}
}
