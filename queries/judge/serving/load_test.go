package serving

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
)

// loads are benchmarks as trend-serving has them.
func loads(t *testing.T, rows ...[]any) []Load {
	t.Helper()
	read, err := Benchmarks.Of(frametest.Answer("serving", "target_requests_per_s is_rate_unlimited concurrency_limit_count completed_count failed_count input_token_count output_token_count tool label model", rows...))
	if err != nil {
		t.Fatal(err)
	}
	var out []Load
	for _, r := range read {
		out = append(out, r.Load())
	}
	return out
}

// TestLoads holds which benchmarks are under the same load, and what loads are called.
func TestLoads(t *testing.T) {
	all := loads(t,
		[]any{4.0, false, int64(32), int64(10), int64(0), int64(10240), int64(1280), "vllm-bench", nil, "m"}, // 0
		[]any{4.0, nil, int64(32), int64(20), int64(0), int64(20900), int64(2500), "vllm-bench", "x", "m"},   // 0: 2 % longer prompts, 2 % shorter answers, another label
		[]any{4.0, false, int64(32), int64(10), int64(0), int64(10900), int64(1280), "vllm-bench", nil, "m"}, // 1: prompts 6 % longer than the first
		[]any{4.0, false, int64(16), int64(10), int64(0), int64(10240), int64(1280), "vllm-bench", nil, "m"}, // 2
		[]any{nil, true, int64(16), int64(10), int64(0), int64(10240), int64(1280), "vllm-bench", nil, "m"},  // 3
		[]any{nil, true, int64(16), int64(10), int64(0), int64(10240), int64(1280), "vllm-bench", nil, "n"},  // 4: another model
		[]any{nil, nil, nil, int64(0), int64(0), int64(0), int64(0), "mlperf-loadgen", "Server", nil},        // 5
		[]any{nil, nil, nil, nil, int64(0), nil, nil, "mlperf-loadgen", "Offline", nil},                      // 6
		[]any{nil, nil, nil, nil, int64(0), nil, nil, "trtllm-bench", nil, nil},                              // 7: nothing is known
		[]any{nil, nil, nil, int64(10), int64(0), nil, int64(1280), "trtllm-bench", nil, nil},                // 8: unknown is not like known
		[]any{nil, true, nil, int64(90), int64(10), int64(92160), int64(11520), "vllm-bench", nil, "m"},      // 9: all at once
		[]any{nil, true, nil, int64(100), int64(0), int64(102400), int64(12800), "vllm-bench", nil, "m"},     // 9: as many, of which none failed
		[]any{nil, true, nil, int64(1000), int64(0), int64(1024000), int64(128000), "vllm-bench", nil, "m"},  // 10: more requests are another load
	)
	groups, of := Group(all)
	if want := []int{0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10}; !slices.Equal(of, want) {
		t.Errorf("groups %v, want %v", of, want)
	}
	want := []string{"rate=4 concurrency=32 in=1024 out=128", "rate=4 concurrency=32 in=1090 out=128", "rate=4 concurrency=16 in=1024 out=128", "rate=inf concurrency=16 in=1024 out=128 model=m",
		"rate=inf concurrency=16 in=1024 out=128 model=n", "scenario=Server", "scenario=Offline", "unknown load", "out=128", "rate=inf requests=100 in=1024 out=128", "rate=inf requests=1000 in=1024 out=128"}
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
	for text, want := range map[string]string{"concurrency=32": "[0 1]", "concurrency=32,in=1024": "[0]", "in=1060": "[0 1 2 3 4 9 10]", "requests=100": "[9]", "rate=inf model=n": "[4]", "rate=4.0": "[0 1 2]", "scenario=Server": "[5]", "out=99": "[]", "concurrency=inf": "[]"} {
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

// TestFailedMore compares shares of requests that failed, and says none where that is not known.
func TestFailedMore(t *testing.T) {
	none, half, unknown := Sent{100, 0, true}, Sent{50, 50, true}, Sent{100, 0, false}
	for _, c := range []struct {
		before, after Sent
		more          bool
		text          string
	}{
		{none, half, true, "0 → 50 of 100"}, {half, none, false, "50 → 0 of 100"}, {none, none, false, ""}, {unknown, half, false, ""}, {half, half.Add(half), false, "50 of 100 → 100 of 200"}, {half, half.Add(unknown), false, ""},
	} {
		if more, text := FailedMore(c.before, c.after), FailedText(c.before, c.after); more != c.more || text != c.text {
			t.Errorf("%+v and %+v: %t, %q", c.before, c.after, more, text)
		}
	}
}
