package cli

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"prof/internal/serve/ask"
)

// TestStatementError: what a statement's process says reaches its author only where it is about the statement. Go's runtime says where its threads were.
func TestStatementError(t *testing.T) {
	t.Parallel()
	const memory = "invalid request: the statement needs more memory than it may take: ask for less at once"
	for script, want := range map[string]struct {
		says    string
		mending bool // its author can
	}{
		"echo no such column >&2; exit 64": {"invalid request: no such column", true},
		"printf 'runtime: out of memory: cannot allocate\\nfatal error: out of memory\\ngoroutine 1' >&2; exit 2": {memory, true},
		"echo fatal error: x >&2; exit 2": {memory, true},
		"kill -ABRT $$":                   {memory, true},
		"kill -KILL $$":                   {memory, true},
		"echo no such folder >&2; exit 1": {"statement: no such folder", false},
		"head -c 200 /dev/zero; exit 64":  {"invalid request: the answer has more than 0 MB", true},
		"yes":                             {"invalid request: the answer has more than 0 MB", true},
	} {
		wrote, said := &bounded{most: 100}, &bounded{most: mostSaid}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Stdout, cmd.Stderr = wrote, said
		err := cmd.Run()
		if err == nil {
			t.Fatalf("%s: it did not fail", script)
		}
		if got := statementError(err, wrote, said); got.Error() != want.says || errors.Is(got, ask.ErrInvalid) != want.mending || strings.Contains(got.Error(), "goroutine") {
			t.Errorf("%s: %v, want %s", script, got, want.says)
		}
	}
}
