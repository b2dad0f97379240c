package workload

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCut: a file that was cut off is an error that says so, wherever the cut is.
func TestCut(t *testing.T) {
	for _, name := range []string{"dsocr-sdpa.workload.json", "metrics.json"} {
		text := strings.TrimRight(string(sample(t, name)), "\n")
		for i := range len(text) {
			f, err := Read(strings.NewReader(text[:i]))
			if f != nil || !errors.Is(err, ErrNoWorkload) || !strings.HasSuffix(err.Error(), "was the file cut off?") {
				t.Fatalf("%s: %d bytes of %d: %+v, %v", name, i, len(text), f, err)
			}
			Sniff(name, []byte(text[:i]))
		}
	}
}

// FuzzRead holds the reader to what its callers rely on, whatever the bytes.
func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob(samples + "*.json")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Add([]byte(`{"processes": [{"pid": 1, "rank": 0, "world_size": 2, "runs": [{"prefill_len": 7}]}, {"pid": 2, "runs": []}], "marks": {"torch": "2"}}`))
	f.Add([]byte(`{"batch": 2, "images": 4, "crops": 6, "warmup": 1, "passes": [{"tokens_in": 7, "prefill_tokens": 8, "tokens_out": 3, "warmup": true, "vision_ms": 1e-3}]}`))
	f.Add([]byte(`{"a": [` + strings.Repeat("[],", 1<<18) + `[]], "processes": [` + strings.Repeat("{},", maxProcesses) + `{}]}`))
	f.Add([]byte(`{"config": {"a": [` + strings.Repeat("[],", 1<<18) + `[]]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		Sniff("workload.json", text)
		facts, err := Read(strings.NewReader(string(text)))
		if (facts == nil) != (err != nil) {
			t.Fatalf("%+v, %v", facts, err)
		}
		if err != nil {
			return
		}
		checkCount(t, facts.Warmup)
		if len(facts.Passes) > maxPasses {
			t.Errorf("%d passes", len(facts.Passes))
		}
		for _, p := range facts.Passes {
			checkPass(t, p)
			if p.Process < 0 || p.Process > len(facts.Process) || p.Process == 0 && len(facts.Process) > 0 {
				t.Errorf("%+v is of process %d of %d", p, p.Process, len(facts.Process))
			}
			if p.Each && len(facts.Passes) != 1 {
				t.Errorf("%+v is one of %d", p, len(facts.Passes))
			}
		}
	})
}

func checkPass(t *testing.T, p Pass) {
	t.Helper()
	for _, v := range []*int64{p.Prefill, p.Decode, p.Images, p.Crops} {
		checkCount(t, v)
	}
	if p.Batch < 1 || p.Batch > maxCount || p.Each && p.Warmup {
		t.Errorf("%+v", p)
	}
	for _, v := range []*int64{p.PrefillNs, p.DecodeNs, p.VisionNs} {
		if v != nil && (*v < 0 || *v > maxMs*1e6 || p.Each) {
			t.Errorf("%+v: %d ns", p, *v)
		}
	}
}

func checkCount(t *testing.T, v *int64) {
	t.Helper()
	if v != nil && (*v < 0 || *v > maxCount) {
		t.Errorf("count %d", *v)
	}
}
