package nsys

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plainCopy returns a plain copy of a packed database in testdata.
func plainCopy(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.sqlite")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// environments is a database with texts among which are environments; see its maker beside it.
func environments(t testing.TB) string {
	t.Helper()
	return plainCopy(t, "capture/environment/environment.sqlite.gz")
}

const inEnvironments = "0123456789abcdef0123456789abcdef"

// values returns every text of a database, as scrub sees them, one a line.
func values(t testing.TB, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	db, err := openPages(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	if err := db.texts([][]byte{nil}, func(t text) error { out = append(out, string(t.bytes)); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// Wherever an environment lies in its row, what is beyond the allow-list is gone, and every other text is as it was.
func TestScrub(t *testing.T) {
	path := environments(t)
	before := values(t, path)
	n, err := Scrub(path, Marker{inEnvironments})
	if err != nil {
		t.Fatal(err)
	}
	after := values(t, path)
	if len(after) != len(before) || len(before) < 250 {
		t.Fatalf("%d texts before, %d after", len(before), len(after))
	}
	want, marked := 0, 0
	for i := range before {
		if !strings.Contains(before[i], inEnvironments) && !strings.Contains(before[i], "CUDA_INJECTION64_PATH=/") {
			if after[i] != before[i] {
				t.Errorf("text %d was %q and is %q", i, before[i], after[i])
			}
			continue
		}
		marked++
		var kept []string
		for _, v := range strings.Split(before[i], "\x00") {
			if strings.HasPrefix(v, "SECRET_") {
				want++
				v = strings.Repeat("*", len(v))
			}
			kept = append(kept, v)
		}
		if expected := strings.Join(kept, "\x00"); after[i] != expected {
			t.Errorf("text %d is %q", i, after[i])
		}
	}
	if n != want || marked != 29 {
		t.Errorf("%d variables of %d environments were overwritten, want %d of 29", n, marked, want)
	}
	if again, err := Scrub(path, Marker{inEnvironments}); err != nil || again != 0 {
		t.Errorf("a second time: %d, %v", again, err)
	}
}

// A real export, whose environments were cut down to a planted token when it was shared, is cleared of that in the texts of processes.
// What else holds it there is nsys' own environment, in which prof's never stands.
func TestScrubReal(t *testing.T) {
	path := plainCopy(t, "nsys/kernels/kernels.sqlite.gz")
	const planted = "\x00HF_TOKEN=hf_examplesecret0123456789\x00"
	before := strings.Count(strings.Join(values(t, path), "\n"), planted)
	n, err := Scrub(path, Marker{inEnvironments})
	after := strings.Count(strings.Join(values(t, path), "\n"), planted)
	if err != nil || before == 0 || after != 0 || n < before {
		t.Errorf("%d environments before, %d after, %d variables overwritten, %v", before, after, n, err)
	}
}

// What is no database, or one that is cut or damaged, is an error or is cleared; it never ends prof.
func TestScrubDamaged(t *testing.T) {
	whole, err := os.ReadFile(environments(t))
	if err != nil {
		t.Fatal(err)
	}
	try := func(text []byte) error {
		path := filepath.Join(t.TempDir(), "x.sqlite")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Scrub(path, Marker{inEnvironments})
		return err
	}
	if err := try([]byte("a text")); err == nil {
		t.Error("a text was taken for a database")
	}
	if err := try(whole[:len(whole)-1]); err == nil {
		t.Error("a cut database was taken for whole")
	}
	if err := try(whole[:len(whole)/2048*1024]); err == nil {
		t.Error("a database without its last pages was taken for whole")
	}
	for i := 100; i < len(whole); i += 997 {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0xff
		_ = try(damaged) // whatever it says
	}
}

func FuzzScrub(f *testing.F) {
	text, err := os.ReadFile(environments(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text[:8192])
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x.sqlite")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _ = Scrub(path, Marker{inEnvironments})
	})
}
