package torch_test

import (
	"strings"
	"testing"

	"prof/ingest/rows/rowstest"
)

// TestMergedByNumbers holds that a trace of two processes that launched work on one GPU, by its number, says that these may be two.
func TestMergedByNumbers(t *testing.T) {
	one := launch(1, 1, 5) + "," + kernel(9, 1, 5, ``)
	two := strings.Replace(launch(2, 1, 6), `"pid": 1`, `"pid": 2`, 1) + "," + kernel(19, 1, 6, ``)
	for _, c := range []struct {
		name, events string
		want         bool
	}{
		{"two processes", one + "," + two, true},
		{"two processes, two GPUs", one + "," + strings.Replace(two, `"device": 0`, `"device": 1`, 1), false},
		{"one process", one, false},
	} {
		_, warnings := stored(t, write(t, "x.json", traceOf(c.events)))
		if got := strings.Contains(strings.Join(warnings, "\n"), "processes 1 and 2 launched work on GPU 0"); got != c.want {
			t.Errorf("%s: %q", c.name, warnings)
		}
	}
}

// TestMergedParts holds that ids and GPUs of the parts of a merged trace are told apart where they have the same numbers, and no part's rank is that of all.
func TestMergedParts(t *testing.T) {
	part := func(name string, at float64) string {
		return strings.NewReplacer(`"pid": 1`, `"pid": "[`+name+`] 1"`, `"pid": 0`, `"pid": "[`+name+`] 0"`).Replace(launch(at, 1, 5) + "," + kernel(at+9, 1, 5, ``))
	}
	k, warnings := stored(t, write(t, "x.json", traceOf(part("TP00", 1), part("TP03", 2))))
	if len(warnings) != 1 || !strings.Contains(warnings[0], "the processes of 4 events are text") {
		t.Errorf("%q", warnings)
	}
	for device, pid := range map[int64]int64{0: 1 << 30, 3: 1<<30 + 2} {
		rows := k.Table("kernel").Where(func(r rowstest.Row) bool { return r.Int("device_id") == device })
		if len(rows) != 1 || rows[0].Int("pid") != pid {
			t.Errorf("GPU %d: %v", device, rows)
		}
	}
}
