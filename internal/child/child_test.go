package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// TestRun runs programs that write without end, leave their output to a daemon, or do not end.
func TestRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script  string
		chatty  bool
		stopped bool // ctx ends
		want    error
		out     string // beginning of stdout
		end     string // end of stderr
	}{
		"says a version":             {script: "echo 1.2; echo why >&2", out: "1.2\n", end: "why\n"},
		"writes stdout without end":  {script: "exec yes", want: ErrTooMuch, out: "y\n"},
		"chatty":                     {script: "yes | head -c 40000000; echo the end >&2", chatty: true, out: "y\n", end: "the end\n"},
		"writes 400 MB to stderr":    {script: "echo 1.2; head -c 400000000 /dev/zero >&2; echo the end >&2", out: "1.2\n", end: "the end\n"},
		"leaves a daemon with pipes": {script: "echo 1.2; sleep 60 & exit 0", out: "1.2\n"},
		"does not end":               {script: "echo 1.2; sleep 60", stopped: true, want: context.DeadlineExceeded, out: "1.2\n"},
		"does not listen":            {script: "trap '' INT TERM; echo 1.2; sleep 60; sleep 60", stopped: true, want: context.DeadlineExceeded, out: "1.2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, limit := t.Context(), 20*time.Second // for a busy machine: each takes 2 s or so, and not the 60 of its sleep
			if c.stopped {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Second)
				defer cancel()
			}
			start := time.Now()
			out, err := Run(ctx, Command{Argv: []string{"sh", "-c", c.script}, Env: os.Environ(), Chatty: c.chatty})
			if !errors.Is(err, c.want) || !strings.HasPrefix(string(out.Stdout), c.out) || !bytes.HasSuffix(out.Stderr, []byte(c.end)) {
				t.Errorf("%v, stdout %.20q, stderr %d bytes", err, out.Stdout, len(out.Stderr))
			}
			if took := time.Since(start); took > limit || len(out.Stdout)+len(out.Stderr) > 2*MaxOutput+20 {
				t.Errorf("%v, %d and %d bytes", took, len(out.Stdout), len(out.Stderr))
			}
		})
	}
}
