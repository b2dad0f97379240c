package serving

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestInWindow holds which times between tokens lie in a window: those of which both tokens came in it.
func TestInWindow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.json")
	// The first begins at 10 s: tokens at 11, 12, 13, 14; the second at 12: at 12.5, 13.5, 14.5, 15.5; the third failed; the fourth came in chunks.
	text := `{"start_times": [10, 12, 12, 12], "ttfts": [1, 0.5, 0, 0.75], "itls": [[1, 1, 1], [1, 1, 1], [], [2]], "output_lens": [4, 4, 0, 9]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	value := func(v *float64) float64 {
		if v == nil {
			return -1
		}
		return *v
	}
	for _, c := range []struct {
		from, to int64
		tokens   int64
		tpot     float64
		requests int64
		ttft     float64
	}{
		{0, 100e9, 6, 1e9, 3, 0.75e9},
		{12e9, 14e9, 2 + 1, 1e9, 2, 0.625e9},
		{12_100_000_000, 14e9, 1 + 1, 1e9, 2, 0.625e9},
		{12e9, 12_400_000_000, 0, -1, 0, -1},
		{100e9, 200e9, 0, -1, 0, -1},
	} {
		w, err := InWindow(path, c.from, c.to)
		if err != nil || w.Tokens != c.tokens || w.Requests != c.requests || math.Abs(value(w.TPOTNs)-c.tpot) > 1 || math.Abs(value(w.TTFTNs)-c.ttft) > 1 {
			t.Errorf("%d to %d: %+v %v %v, %v", c.from, c.to, w, value(w.TPOTNs), value(w.TTFTNs), err)
		}
	}
	for _, text := range []string{`{"ttfts": [1], "itls": [[1]], "output_lens": [2]}`, `{"completed": 4}`, `{"start_times": [1, 2], "ttfts": [1], "itls": [[1]], "output_lens": [2]}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if w, err := InWindow(path, 0, 1e12); err != nil || w != (Window{}) {
			t.Errorf("%s gives %+v, %v", text, w, err)
		}
	}
	if err := os.WriteFile(path, []byte("id,ttft\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := InWindow(path, 0, 1); err == nil {
		t.Error("what is no JSON gives no error")
	}
}
