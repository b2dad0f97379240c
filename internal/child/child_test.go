package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
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
		stopped bool // ctx ends, once the program has begun
		want    error
		out     string // beginning of stdout
		end     string // end of stderr
	}{
		"says a version":             {script: "echo 1.2; echo why >&2", out: "1.2\n", end: "why\n"},
		"writes stdout without end":  {script: "exec yes", want: ErrTooMuch, out: "y\n"},
		"chatty":                     {script: "yes | head -c 40000000; echo the end >&2", chatty: true, out: "y\n", end: "the end\n"},
		"writes 40 MB to stderr":     {script: "echo 1.2; head -c 40000000 /dev/zero >&2; echo the end >&2", out: "1.2\n", end: "the end\n"},
		"leaves a daemon with pipes": {script: "echo 1.2; sleep 100 & exit 0", out: "1.2\n"},
		"does not end":               {script: "echo 1.2; touch $BEGUN; sleep 100", stopped: true, want: context.Canceled, out: "1.2\n"},
		"does not listen":            {script: "trap '' INT TERM; echo 1.2; touch $BEGUN; sleep 100; sleep 100", stopped: true, want: context.Canceled, out: "1.2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit = time.Minute // for a busy machine: each takes 2 s or so, and not the 100 of its sleep
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begun := filepath.Join(t.TempDir(), "begun")
			if c.stopped {
				go func() {
					for _, err := os.Stat(begun); err != nil && ctx.Err() == nil; _, err = os.Stat(begun) {
						time.Sleep(10 * time.Millisecond)
					}
					cancel()
				}()
			}
			start := time.Now()
			out, err := Run(ctx, Command{Argv: []string{"sh", "-c", c.script}, Env: append(os.Environ(), "BEGUN="+begun), Chatty: c.chatty})
			if !errors.Is(err, c.want) || !strings.HasPrefix(string(out.Stdout), c.out) || !bytes.HasSuffix(out.Stderr, []byte(c.end)) {
				t.Errorf("%v, stdout %.20q, stderr %d bytes", err, out.Stdout, len(out.Stderr))
			}
			if took := time.Since(start); took > limit || len(out.Stdout)+len(out.Stderr) > 2*MaxOutput+20 {
				t.Errorf("%v, %d and %d bytes", took, len(out.Stdout), len(out.Stderr))
			}
		})
	}
}
