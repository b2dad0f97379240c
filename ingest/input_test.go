package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReportBesideItsExport holds that a folder as `nsys profile --export sqlite` leaves it is one capture, not two, and can be
// ingested where nsys is not installed.
func TestReportBesideItsExport(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.nsys-rep": "report", "a.sqlite": "SQLite format 3\x00", "b.qdrep": "report", "notes.txt": "hello", "c.nsys-rep": "report"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in, err := findInputs([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range in.list {
		names = append(names, filepath.Base(f.path))
	}
	if got := strings.Join(names, " "); got != "a.sqlite b.qdrep c.nsys-rep" || len(in.skipped) != 1 || len(in.left) != 1 {
		t.Errorf("found %s and passed over %v", got, in.skipped)
	}
}

func TestDefaultName(t *testing.T) {
	at := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	for path, want := range map[string]string{
		"x/llama 70b.sqlite.gz": "20250304-050607-llama-70b", "run_pqtdir/": "20250304-050607-run", "r.nsys-rep": "20250304-050607-r",
	} {
		if got := defaultName(at, path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
