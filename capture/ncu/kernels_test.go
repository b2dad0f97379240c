package ncu

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/capture/plan"
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

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		places []int64
		want   int
	}{
		{nil, 0},
		{[]int64{1}, 1},
		{[]int64{9, 5, 7}, 9},
		{[]int64{9, 0, 7}, 0}, // one is not known
	} {
		var launches []Launch
		for _, n := range c.places {
			launches = append(launches, Launch{"k", 1, n})
		}
		if got := matches(launches); got != c.want {
			t.Errorf("%v: %d, want %d", c.places, got, c.want)
		}
	}
}

// TestKills checks when a workload is ended: when it is known how much is to be profiled of one process, and nobody waits for its end.
func TestKills(t *testing.T) {
	known := Target{Launches: []Launch{{"a", 1, 3}, {"b", 1, 6}}}
	for name, c := range map[string]struct {
		change func(*plan.Options)
		target Target
		count  int
		kills  bool
	}{
		"planned":                 {func(o *plan.Options) {}, known, 6, true},
		"planned, not counted":    {func(o *plan.Options) {}, Target{Launches: []Launch{{"a", 1, 0}}}, 0, false},
		"to the end":              {func(o *plan.Options) {}, Target{Launches: known.Launches, ToEnd: true}, 6, false},
		"whole graphs":            {func(o *plan.Options) {}, Target{Graphs: true}, 10, true},
		"kernels":                 {func(o *plan.Options) { o.Ncu.Kernels = "a" }, Target{}, 0, false},
		"kernels and a number":    {func(o *plan.Options) { o.Ncu.Kernels, o.Ncu.LaunchCount = "a", 7 }, Target{}, 7, true},
		"of every rank":           {func(o *plan.Options) { o.Ncu.Kernels, o.Ncu.LaunchCount, o.Ncu.Rank = "a", 7, "all" }, Target{}, 0, false},
		"ranges":                  {func(o *plan.Options) { o.Ncu.Replay, o.Range, o.Ncu.LaunchCount = "range", "a", 2 }, Target{}, 2, false},
		"application by its runs": {func(o *plan.Options) { o.Ncu.Replay = "application" }, known, 6, false},
		"as the user says":        {func(o *plan.Options) { o.Ncu.Args = []string{"--kill=no"} }, known, 6, false},
		"as the user says, words": {func(o *plan.Options) { o.Ncu.Args = []string{"--kill", "no"} }, known, 6, false},
	} {
		o := plan.With(c.change)
		if n, kills := Count(o, c.target), Kills(o, c.target); n != c.count || kills != c.kills {
			t.Errorf("%s: %d, %v, want %d, %v", name, n, kills, c.count, c.kills)
		}
		if got := slices.Contains(Args(o, c.target, "o", "l", nil), "yes"); got != c.kills {
			t.Errorf("%s: --kill yes is %v among the arguments", name, got)
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
