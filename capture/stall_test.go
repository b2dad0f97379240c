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
	}{
		"before the first launch":   {connected, 3, ""},
		"within a launch":           {connected + "==PROF== Profiling \"ncclDevKernel_AllReduce_Sum_bf16_RING_LL\" - 0: 0%", 3, "ncu was profiling launch 1, of ncclDevKernel_AllReduce_Sum_bf16_RING_LL;"},
		"within the last one":       {connected + one + "==PROF== Profiling \"saxpy\" - 1: 0%....50%", 1, "ncu was profiling launch 2, of saxpy;"},
		"number is not known":       {connected + one + "==PROF== Profiling \"saxpy\" - 1: 0%....50%", 0, "ncu was profiling launch 2, of saxpy;"},
		"between launches":          {connected + one, 3, "ncu had profiled 1 of at least 3 launches"},
		"after the last launch":     {connected + one, 1, ""},
		"after one, number unknown": {connected + one, 0, ""},
	} {
		log := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(log, []byte(c.log), 0o644); err != nil {
			t.Fatal(err)
		}
		s := &stall{log: log, limit: time.Minute, chosen: c.chosen}
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
