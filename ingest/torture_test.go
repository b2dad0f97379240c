package ingest_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"prof/ingest"
)

// TestTortured: internal/torture damages files of every format.
func TestTortured(t *testing.T) {
	text, err := os.ReadFile("../internal/torture/files.txt")
	if err != nil {
		t.Fatal(err)
	}
	var has []string
	for line := range strings.Lines(string(text)) {
		has = append(has, strings.Fields(line)[0])
	}
	for _, f := range ingest.Formats() {
		if !slices.Contains(has, f.Name) && f.Name != "nsys-rep" { // which only nsys reads
			t.Errorf("internal/torture/files.txt has no file of the format %s", f.Name)
		}
	}
}
