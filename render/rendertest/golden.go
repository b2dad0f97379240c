package rendertest

import (
	"io"
	"testing"

	"prof/internal/golden"
)

// Compare compares with a golden file.
func Compare(t *testing.T, file string, got []byte) {
	t.Helper()
	golden.Compare(t, file, got)
}

// Failing is a writer that takes nothing.
type Failing struct{}

func (Failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
