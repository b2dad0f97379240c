package torch

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestExpectedEvents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := io.CopyN(io.Discard, src, 1<<20); err != nil {
		t.Fatal(err)
	}
	if n := src.expected(1000); n < 1000 || n > 8000 {
		t.Errorf("%d events are expected after 1000 in an eighth of the file", n)
	}
	if _, err := io.Copy(io.Discard, src); err != nil {
		t.Fatal(err)
	}
	if n := src.expected(1000); n != 1000 {
		t.Errorf("%d events are expected at the end of 1000", n)
	}
}
