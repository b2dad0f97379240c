package capture

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
		{[]Launch{{"_Z4axpyfPf", 1}}, "::regex:^(_Z4axpyfPf)$:^(1)$"},
		{[]Launch{{"b", 10}, {"a", 2}, {"b", 2}, {"a", 10}, {"a", 1}}, "::regex:^(a|b)$:^(1|2|10)$"},
		{[]Launch{{"triton_poi_fused_0.1", 3}, {"k$1", 3}}, `::regex:^(k\$1|triton_poi_fused_0\.1)$:^(3)$`},
		{[]Launch{{"a(b)[c]{d}|e+f*g?h^i\\j-k", 1}}, `::regex:^(a\(b\)\[c\]\{d\}\|e\+f\*g\?h\^i\\j\-k)$:^(1)$`},
		{[]Launch{{"ns::k é", 1}}, "::regex:^(ns..k...)$:^(1)$"},
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

func TestMatchesWaiting(t *testing.T) {
	for pattern, want := range map[string]string{"nccl": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "regex:^cross_": "cross_device_reduce_1stage", "^flash_|gemm": "", "(": ""} {
		if got := matchesWaiting(pattern); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}
