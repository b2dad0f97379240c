package cli

import (
	"bytes"
	"testing"
	"time"
)

func TestSpinner(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := start
	var out bytes.Buffer
	s := &spinner{w: &out, now: func() time.Time { return now }, begun: start, done: make(chan struct{})}
	s.step("reading")
	s.draw()
	if out.Len() > 0 {
		t.Errorf("short work shows %q", out.String())
	}
	for _, c := range []struct {
		after time.Duration
		tell  func()
		want  string
	}{
		{2 * time.Second, nil, "⠙ reading 2 s"},
		{2 * time.Second, func() { s.rows("a.sqlite: KERNEL", 100, 4000) }, "⠹ a.sqlite: KERNEL 100 of 4000 rows"},
		{4 * time.Second, func() { s.rows("a.sqlite: KERNEL", 1000, 4000) }, "⠸ a.sqlite: KERNEL 1000 of 4000 rows, 500/s, 6 s left"},
		{6 * time.Second, func() { s.rows("a.sqlite: KERNEL", 12_000_000, 30_000_000) }, "⠼ a.sqlite: KERNEL 12.0 M of 30.0 M rows, 3.0 M/s, 6 s left"},
		{6 * time.Second, func() { s.rows("events", 20_000, -1) }, "⠴ events 20.0 k rows"},
		{8 * time.Second, nil, "⠦ events 20.0 k rows, 10.0 k/s"},
		{8 * time.Second, func() {
			s.rows("reading file 10 of 12, a-long-name.of-a-capture.sqlite: CUPTI_ACTIVITY_KIND_KERNEL", 20_000_000, 30_000_000)
		}, "⠧ reading file 10 of 12…qlite: CUPTI_ACTIVITY_KIND_KERNEL 20.0 M of 30.0 M rows"},
		{8 * time.Second, func() { s.step("deriving facts") }, "⠇ deriving facts 0 s"},
		{9 * time.Second, nil, "⠏ deriving facts 1 s"},
	} {
		now = start.Add(c.after)
		if c.tell != nil {
			c.tell()
		}
		out.Reset()
		s.draw()
		if got := out.String(); got != "\r\x1b[K"+c.want {
			t.Errorf("after %v: %q, want %q", c.after, got, c.want)
		}
	}
	out.Reset()
	s.wipe()
	s.wipe()
	s.end()
	s.draw()
	if out.String() != "\r\x1b[K" {
		t.Errorf("at the end: %q", out.String())
	}
	var none *spinner
	none.step("x")
	none.rows("x", 1, 2)
	none.wipe()
	none.end()
}
