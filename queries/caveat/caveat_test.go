package caveat

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"prof/queries/frame"
	"prof/schema/terms"
)

// inQuotes matches what may be a kind of caveat in SQL: words with dashes.
var inQuotes = regexp.MustCompile(`'([a-z]+(?:-[a-z0-9]+)+)'`)

// TestWords holds that each kind of caveat that SQL or Go can give has words, and that no words are for a kind that nothing gives.
func TestWords(t *testing.T) {
	given := map[string]string{"nothing-picked": "unmatched.go", "no-name-fits": "unmatched.go", "no-operator-fits": "unmatched.go", "facts-lacking": "schema/facts"}
	others := []string{"torch-trace", "aiperf-requests", "genai-perf-requests", "nsys-stats", "operator-sums", "operator-calls", "operator-shapes", "within-error", "one-recording", "nsys-gpu-trace", "waited-for-unseen-work"} // forms, topics, and reasons
	for _, pattern := range []string{"../../schema/facts/sql/*/caveat*.sql", "../../schema/facts/sql/audit/*.sql", "../sql/*/_caveat-*.sql", "../sql/model/m[bf]u.sql"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, path := range files {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range inQuotes.FindAllStringSubmatch(string(file), -1) {
				_, isToolLoss := ToolLosses[m[1]]
				if _, isIdle := terms.CauseNamed(m[1]); !isToolLoss && !isIdle && !slices.Contains(others, m[1]) {
					given[m[1]] = path
				}
			}
		}
	}
	for k, path := range given {
		if _, known := words[k]; !known {
			t.Errorf("%s gives %s, for which there are no words", path, k)
		}
	}
	for k := range words {
		if given[k] == "" {
			t.Errorf("nothing gives %s", k)
		}
	}
}

// TestOnceForStages: what is so of several stages that as many processes ran is said once, of another number of processes by itself.
func TestOnceForStages(t *testing.T) {
	list := []C{{Topic: "mfu", Kind: "processes-split-model", Stage: "prefill", Count: 8}, {Topic: "mfu", Kind: "processes-split-model", Stage: "decode", Count: 8}, {Topic: "mfu", Kind: "processes-split-model", Stage: "vision", Count: 2}}
	_, notes, err := Word(list)
	want := []string{"the 8 processes of prefill and decode share one batch: the model is split over all of them by tensor parallelism",
		"the 2 processes of vision share one batch: the model is split over all of them by tensor parallelism"}
	if err != nil || !slices.Equal(notes, want) {
		t.Errorf("%v: %q, not %q", err, notes, want)
	}
}

// TestMadeUpKind: a kind is one entry, from which its columns, its sentence and its line in the docs come.
func TestMadeUpKind(t *testing.T) {
	words["made-up"] = sentence(func(c struct {
		SlowGPU string `col:"object"`
		Kernels int64  `col:"item_count"`
	}) string {
		return fmt.Sprintf("GPU %s made up %d kernels", c.SlowGPU, c.Kernels)
	})
	t.Cleanup(func() { delete(words, "made-up") })
	_, notes, err := Word([]C{{Topic: "launch", Kind: "made-up", Object: "7", Count: 5}})
	if want := []string{"GPU 7 made up 5 kernels"}; err != nil || !reflect.DeepEqual(notes, want) {
		t.Errorf("%q, %v", notes, err)
	}
	if got, want := FieldsOf("made-up"), []Field{{"object", "slow GPU"}, {"item_count", "kernels"}}; !reflect.DeepEqual(got, want) || !slices.Contains(Kinds(), "made-up") {
		t.Errorf("the columns are %v", got)
	}
	if got := Example("made-up"); got != "GPU SLOW GPU made up 3 kernels" {
		t.Errorf("the docs say %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a number of things is read from a column of text")
		}
	}()
	sentence(func(struct {
		Kernels int64 `col:"object"`
	}) string {
		return ""
	})
}

// TestMake: what a program makes of a kind is read as it was made.
func TestMake(t *testing.T) {
	want := Unpicked{"stage x", "decode", "stages"}
	if got, is := UnpickedOf(Make("argument", "nothing-picked", want)); got != want || !is {
		t.Errorf("%+v, %v", got, is)
	}
}

// TestReplayReasons holds that each reason why replays have no operators has words, and that none is unused.
func TestReplayReasons(t *testing.T) {
	file, err := os.ReadFile("../../schema/facts/sql/operators/caveat_replay.sql")
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]string{}
	for _, m := range regexp.MustCompile(`(?:THEN|ELSE) '([a-z]+)'`).FindAllStringSubmatch(string(file), -1) {
		given[m[1]] = unlikeCaptures[m[1]]
	}
	if !reflect.DeepEqual(given, unlikeCaptures) {
		t.Errorf("the reasons are %q, the words %q", given, unlikeCaptures)
	}
}

// TestWord holds that caveats of one kind that are said together make one note, and that a kind without words is an error.
func TestWord(t *testing.T) {
	list := []frame.Caveat{{Topic: "throttle", Kind: "gpu-throttled", Subject: "0", Object: "sw_power_cap", Count: 1, OfCount: 8}, {Topic: "throttle", Kind: "gpu-throttled", Subject: "0", Object: "hw_slowdown", Count: 1, OfCount: 8},
		{Topic: "throttle", Kind: "gpu-shared", Subject: "1", Count: 3, OfCount: 4}}
	worded, notes, err := Word(list)
	want := []string{"GPU 0 was throttled (sw_power_cap, hw_slowdown) in 12 % of its busy samples: times are longer than at full clocks, see prof query throttling",
		"other processes used GPU 1 in 75 % of the samples: times are not the workload's alone"}
	if err != nil || !reflect.DeepEqual(notes, want) || len(worded) != 3 || worded[0].Text != want[0] || worded[1].Text != want[0] || list[0].Text != "" {
		t.Errorf("%v, %q", err, notes)
	}
	if _, _, err := Word([]frame.Caveat{{Topic: "a", Kind: "b"}}); err == nil {
		t.Error("a kind without words is said")
	}
}
