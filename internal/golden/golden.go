// Package golden compares what tests make with files in testdata; the flag -update writes these.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

// Update reports whether golden files are written.
var Update = flag.Bool("update", false, "write the golden files in testdata")

// Compare fails where the file holds something else.
func Compare(t testing.TB, file string, got []byte) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update writes it); got:\n%s\nwant:\n%s", file, got, want)
	}
}

// Write writes a file that a test begins with, and the folders above it.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
