package ncu

import (
	"regexp"
	"strings"
	"testing"
)

func TestKernelID(t *testing.T) {
	for _, c := range []struct {
		launches []Launch
		want     string
	}{
		{[]Launch{{"_Z4axpyfPf", 1, 0}}, "::regex:^(_Z4axpyfPf)$:^(1)$"},
		{[]Launch{{"b", 10, 0}, {"a", 2, 0}, {"b", 2, 0}, {"a", 10, 0}, {"a", 1, 0}}, "::regex:^(a|b)$:^(1|2|10)$"},
		{[]Launch{{"triton_poi_fused_0.1", 3, 0}, {"k$1", 3, 0}}, `::regex:^(k\$1|triton_poi_fused_0\.1)$:^(3)$`},
		{[]Launch{{"a(b)[c]{d}|e+f*g?h^i\\j-k", 1, 0}}, `::regex:^(a\(b\)\[c\]\{d\}\|e\+f\*g\?h\^i\\j\-k)$:^(1)$`},
		{[]Launch{{"ns::k é", 1, 0}}, "::regex:^(ns..k...)$:^(1)$"},
	} {
		got := kernelID(c.launches)
		if got != c.want {
			t.Errorf("%+v give %s, want %s", c.launches, got, c.want)
		}
		fields := strings.Split(got, ":")
		if len(fields) != 5 { // context, stream, regex, name, invocation
			t.Fatalf("%s has %d fields, want 5", got, len(fields))
		}
		name, number := regexp.MustCompile(fields[3]), regexp.MustCompile(fields[4])
		for _, l := range c.launches {
			if ascii := strings.ReplaceAll(l.Symbol, "é", "??"); !name.MatchString(ascii) || name.MatchString("x"+ascii) || name.MatchString(ascii+"x") {
				t.Errorf("%s matches %q or what is longer otherwise than it should", fields[3], ascii)
			}
		}
		if !number.MatchString("1") && !number.MatchString("3") || number.MatchString("11") || number.MatchString("21") {
			t.Errorf("%s matches other numbers", fields[4])
		}
	}
}

func TestProfiledCount(t *testing.T) {
	for _, c := range []struct {
		launches []Launch
		want     int
	}{
		{[]Launch{{"a", 1, 5}}, 1},
		{[]Launch{{"a", 1, 5}, {"b", 3, 9}}, 4},
		{[]Launch{{"a", 1, 2}, {"b", 3, 9}, {"b", 1, 9}}, 3}, // a has no third launch
		{[]Launch{{"a", 1, 2}, {"b", 3, 0}}, 0},
	} {
		if got := profiledCount(c.launches); got != c.want {
			t.Errorf("%+v: %d, want %d", c.launches, got, c.want)
		}
	}
}

func TestMatchesWaiting(t *testing.T) {
	for pattern, want := range map[string]string{"nccl": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "regex:^cross_": "cross_device_reduce_1stage", "^flash_|gemm": "", "(": ""} {
		if got := MatchesWaiting(pattern); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}
