package nvml

import (
	"fmt"
	"os"
	"regexp"
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
	if SlowingMask() != 0xec {
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

// The warehouse's queries know the same bits by the same names, and hold the same of them for slowdowns.
func TestThrottleReasonsOfQueries(t *testing.T) {
	sql, err := os.ReadFile("../../schema/facts/shared/_throttle-reason.sql")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, m := range regexp.MustCompile(`\((\d+), '(\w+)', (true|false)\)`).FindAllStringSubmatch(string(sql), -1) {
		got = append(got, m[1]+" "+m[2]+" "+m[3])
	}
	for i, r := range ThrottleReasons {
		want = append(want, fmt.Sprintf("%d %s %t", i, r.Name, r.Slows))
	}
	if !slices.Equal(got, want) {
		t.Errorf("queries have %q, capture has %q", got, want)
	}
}
