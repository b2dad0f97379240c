package rendertest

import (
	"io"
	"strings"
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

// Attribute is how the template writes a hash.
func Attribute(text string) string { return strings.ReplaceAll(text, "+", "&#43;") }
