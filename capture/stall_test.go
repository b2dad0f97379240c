package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStall(t *testing.T) {
	const connected = "==PROF== Connected to process 4711 (/usr/bin/python3)\n"
	const one = "==PROF== Profiling \"saxpy\" - 0: 0%....50%....100% - 8 passes\n"
	for name, c := range map[string]struct {
		log    string
		chosen int
		want   string // what is said begins with
		alone  time.Duration
	}{
		"before the first launch":   {log: connected, chosen: 3},
		"long before it":            {log: connected, chosen: 3, alone: 7 * time.Second},
		"too long before it":        {log: connected, chosen: 3, alone: 6 * time.Second, want: "ncu had profiled none of 3 launches after 1m0s, 10 times what the workload takes by itself;"},
		"before it, number unknown": {log: connected, alone: time.Second},
		"within a launch":           {log: connected + "==PROF== Profiling \"ncclDevKernel_AllReduce_Sum_bf16_RING_LL\" - 0: 0%", chosen: 3, want: "ncu was profiling launch 1, of ncclDevKernel_AllReduce_Sum_bf16_RING_LL;"},
		"within the last one":       {log: connected + one + "==PROF== Profiling \"saxpy\" - 1: 0%....50%", chosen: 1, want: "ncu was profiling launch 2, of saxpy;"},
		"number is not known":       {log: connected + one + "==PROF== Profiling \"saxpy\" - 1: 0%....50%", chosen: 0, want: "ncu was profiling launch 2, of saxpy;"},
		"between launches":          {log: connected + one, chosen: 3, want: "ncu had profiled 1 of at least 3 launches"},
		"after the last launch":     {log: connected + one, chosen: 1, want: ""},
		"after one, number unknown": {log: connected + one, chosen: 0, want: ""},
	} {
		log := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(log, []byte(c.log), 0o644); err != nil {
			t.Fatal(err)
		}
		s := &stall{log: log, limit: time.Minute, chosen: c.chosen, alone: c.alone}
		start := time.Unix(1000, 0)
		for _, after := range []time.Duration{0, 59 * time.Second} {
			if got := s.look(start.Add(after)); got != "" {
				t.Errorf("%s: after %s: %q", name, after, got)
			}
		}
		if got := s.look(start.Add(time.Minute)); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if err := os.WriteFile(log, []byte(c.log+"....75%"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := s.look(start.Add(2 * time.Minute)); got != "" {
			t.Errorf("%s: %q although the log grew", name, got)
		}
	}
	if got := (&stall{log: filepath.Join(t.TempDir(), "none")}).look(time.Now()); got != "" {
		t.Errorf("without a log: %q", got)
	}
}
