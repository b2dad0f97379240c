package serving

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"prof/queries/frame"
)

// loads are benchmarks as trend-serving has them.
func loads(t *testing.T, rows ...[]any) []Load {
	t.Helper()
	f := &frame.Frame{Rows: rows}
	for _, name := range Columns() {
		f.Columns = append(f.Columns, frame.Column{Name: name})
	}
	records, err := f.Records(Columns()...)
	if err != nil {
		t.Fatal(err)
	}
	var out []Load
	for _, r := range records {
		out = append(out, Of(r))
	}
	return out
}

// TestLoads holds which benchmarks are under the same load, and what loads are called.
func TestLoads(t *testing.T) {
	all := loads(t,
		[]any{4.0, false, int64(32), int64(10), int64(10240), int64(1280), "vllm-bench", nil, "m"}, // 0
		[]any{4.0, nil, int64(32), int64(20), int64(20900), int64(2500), "vllm-bench", "x", "m"},   // 0: 2 % longer prompts, 2 % shorter answers, another label
		[]any{4.0, false, int64(32), int64(10), int64(10900), int64(1280), "vllm-bench", nil, "m"}, // 1: prompts 6 % longer than the first
		[]any{4.0, false, int64(16), int64(10), int64(10240), int64(1280), "vllm-bench", nil, "m"}, // 2
		[]any{nil, true, int64(16), int64(10), int64(10240), int64(1280), "vllm-bench", nil, "m"},  // 3
		[]any{nil, true, int64(16), int64(10), int64(10240), int64(1280), "vllm-bench", nil, "n"},  // 4: another model
		[]any{nil, nil, nil, int64(0), int64(0), int64(0), "mlperf-loadgen", "Server", nil},        // 5
		[]any{nil, nil, nil, nil, nil, nil, "mlperf-loadgen", "Offline", nil},                      // 6
		[]any{nil, nil, nil, nil, nil, nil, "trtllm-bench", nil, nil},                              // 7: nothing is known
		[]any{nil, nil, nil, int64(10), nil, int64(1280), "trtllm-bench", nil, nil},                // 8: unknown is not like known
	)
	groups, of := Group(all)
	if want := []int{0, 0, 1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(of, want) {
		t.Errorf("groups %v, want %v", of, want)
	}
	want := []string{"rate=4 concurrency=32 in=1024 out=128", "rate=4 concurrency=32 in=1090 out=128", "rate=4 concurrency=16 in=1024 out=128", "rate=inf concurrency=16 in=1024 out=128 model=m",
		"rate=inf concurrency=16 in=1024 out=128 model=n", "scenario=Server", "scenario=Offline", "unknown load", "out=128"}
	names := Names(groups)
	if !slices.Equal(names, want) {
		t.Errorf("names\n%q\nwant\n%q", names, want)
	}
	if groups[2].Compare(groups[0]) >= 0 || groups[0].Compare(groups[3]) >= 0 || groups[6].Compare(groups[5]) >= 0 {
		t.Error("loads are out of order")
	}
	if twice := Names([]Load{all[0], all[0]}); twice[0] == twice[1] {
		t.Errorf("two loads are both called %q", twice[0])
	}
	for text, want := range map[string]string{"concurrency=32": "[0 1]", "concurrency=32,in=1024": "[0]", "in=1060": "[0 1 2 3 4]", "rate=inf model=n": "[4]", "rate=4.0": "[0 1 2]", "scenario=Server": "[5]", "out=99": "[]", "concurrency=inf": "[]"} {
		pick, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		got := []int{}
		for i, g := range groups {
			if pick.Has(g) {
				got = append(got, i)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s picks %v, want %s", text, got, want)
		}
	}
	for i, name := range names { // a name picks its own load
		if pick, err := Parse(name); err == nil && !pick.Has(groups[i]) {
			t.Errorf("%s does not pick itself", name)
		}
	}
	for _, text := range []string{"", " , ", "32", "concurrency=", "speed=3", "in=-1", "in=NaN", "rate=fast"} {
		if pick, err := Parse(text); !errors.Is(err, frame.ErrBadArgument) {
			t.Errorf("%q gives %v, %v", text, pick, err)
		}
	}
}
