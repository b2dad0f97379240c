package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"prof/internal/sample"
	"prof/queries"
)

// TestPipedLines checks that no line of a pipe is wider than a CI log, whatever is asked of which capture, that COLUMNS makes it narrower, and
// that --wide lifts it.
func TestPipedLines(t *testing.T) {
	t.Parallel()
	p := reading(t, various)
	all, err := queries.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range sample.Of(all, 9) {
		p.narrow(pipeWidth, "query", q.Name, "--run", "llama")
	}
	for _, run := range sample.Of([]string{"llama", "ranks", "profiled", "both"}, 2) {
		p.narrow(pipeWidth, "show", run)
		p.narrow(pipeWidth, "explain", run)
		p.narrow(pipeWidth, "diff", "both", run)
		p.narrow(pipeWidth, "check", run, "--baseline", "both", "--rule", "stage.prefill.gpu_span_ns <= +5%")
	}
	for _, args := range [][]string{{"ingest", "--dry-run", exported(t, kernels)}, {"runs"}, {"trend"}, {"query"}, {"doctor"}, {"model", exported(t, "../model/deepseek-ocr.config.json")}, {"sql", "FROM top_kernels('llama')"}, {"nosuch"}, {"show", "nosuch"}} {
		p.narrow(pipeWidth, args...)
	}
	if wide := p.ok("query", "top-kernels", "--run", "llama", "--wide"); widest(wide) <= pipeWidth {
		t.Errorf("--wide is %d columns wide:\n%s", widest(wide), wide)
	}
}

// narrow runs a verb and checks that what it prints keeps a width, but for paths and commands, which are to be copied. Warnings and errors are lines of
// their own on stderr, for who searches a log.
func (p *place) narrow(limit int, args ...string) {
	p.t.Helper()
	got := p.run(args...)
	for line := range strings.Lines(got.out) {
		if utf8.RuneCountInString(line)-1 > limit && !strings.Contains(line, p.dir) && !strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(line), "see: "), "prof ") {
			p.t.Errorf("%q: a line has %d columns:\n%s", args, utf8.RuneCountInString(line)-1, line)
		}
	}
}

func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, utf8.RuneCountInString(line)-1)
	}
	return most
}

// TestErrorsAreNeutral checks that no error moves the cursor of a terminal, whatever a path or a name holds.
func TestErrorsAreNeutral(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	for _, args := range [][]string{{"ingest", p.path("evil\x1b[2J\u202e")}, {"show", "evil\x1b[2J"}, {"query", "evil\x1b[2J"}, {"sql", "SELECT evil\x1b[2J"}} {
		if r := p.run(args...); r.code == 0 || strings.ContainsAny(r.err, "\x1b\u202e") || !strings.Contains(r.err, `evil\x1b[2J`) {
			t.Errorf("%q: %d %q", args, r.code, r.err)
		}
	}
}
