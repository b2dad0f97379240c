package nsys

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestIsBlind: an export that lost the work of the GPU is told from one that has it, and from one of a program without a GPU.
func TestIsBlind(t *testing.T) {
	unpacked := func(packed string) string {
		t.Helper()
		in, err := os.Open(filepath.Join("../../testdata", packed))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(filepath.Join(t.TempDir(), "x.sqlite"))
		if err == nil {
			_, err = io.Copy(out, z)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Name()
	}
	for packed, want := range map[string]bool{"odd/jax-no-kernels.sqlite.gz": true, "nsys/kernels/kernels.sqlite.gz": false, "nsys/variants-graph/variants-graph.sqlite.gz": false} {
		path := unpacked(packed)
		if got, err := IsBlind(path); err != nil || got != want {
			t.Errorf("%s: %v, %v", packed, got, err)
		}
		names, err := tables(path)
		if err != nil || len(names) < 30 || !slices.Contains(names, "StringIds") || !slices.Contains(names, "META_DATA_EXPORT") {
			t.Errorf("%s has the tables %q, %v", packed, names, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 99, 100, 5000} {
			if err := os.WriteFile(path, text[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := IsBlind(path); err == nil || got {
				t.Errorf("%s, cut to %d bytes: %v, %v", packed, n, got, err)
			}
		}
	}
	if got, err := IsBlind(filepath.Join("../../ingest/nsys/testdata/none.sqlite")); err == nil || got {
		t.Errorf("a file that is not there: %v, %v", got, err)
	}
}
