package rendertest

import (
	"bytes"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

func Compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
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

// Failing is a writer that takes nothing.
type Failing struct{}

func (Failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Attribute is how the template writes a hash.
func Attribute(text string) string { return strings.ReplaceAll(text, "+", "&#43;") }
