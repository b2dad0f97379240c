package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// calm fails where a text could do something to a terminal.
func calm(t *testing.T, what, text string) {
	t.Helper()
	for _, style := range []string{"\x1b[1m", "\x1b[2m", "\x1b[0m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\r\x1b[K", "\r\n"} {
		text = strings.ReplaceAll(text, style, "")
	}
	for i, r := range text {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError {
			t.Errorf("%s: %q at %d of %q", what, r, i, text)
			return
		}
	}
}

// TestHostileNames: names of files, homes, runs and tags that could move a cursor are written out wherever they are said.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	data, err := os.ReadFile(exported(t, kernels))
	if err != nil {
		t.Fatal(err)
	}
	good := write(t, p.path(evil+".sqlite.gz"), data)
	bad := write(t, p.path(evil+".sqlite"), []byte("SQLite format 3\x00"))
	for _, args := range [][]string{
		{"ingest", "--run", "b", good}, {"ingest", good}, {"ingest", bad}, {"ingest", p.path("no" + evil)}, {"show", evil}, {"show", "b"}, {"rm", evil}, {"tag", "b", "note=x" + strings.ToValidUTF8(evil, "?")}, {"tag", "b", evil}, {"runs"}, {"query", evil},
		{"query", "sources", "--run", "b"}, {"query", "sources", "--run", "b", "--format", "md"}, {evil}, {"runs", "--" + evil}, {"diff", "a", evil}, {"check", "--rules", p.path(evil), "a"}, {"sql", "SELECT '" + evil}, {"sql", "SELECT chr(27) || '[2J' AS \"\x1b[2J\""}, {"sql", "SELECT error('" + strings.ToValidUTF8(evil, "?") + "')"},
		{"baseline", "set", evil, "a"}, {"model", p.path(evil)}, {"report", evil}, {"trend", "--" + evil}, {"ingest", "--run", evil, good},
	} {
		r := p.run(args...)
		calm(t, strings.Join(args, " ")+" on stdout", r.out)
		calm(t, strings.Join(args, " ")+" on stderr", r.err)
	}
	home := p.path("h" + strings.ToValidUTF8(evil, ""))
	p.env = []string{"PROF_HOME=" + filepath.Join(home, "none")}
	for _, args := range [][]string{{"runs"}, {"doctor"}, {"ingest", bad}, {"prune"}} {
		r := p.run(args...)
		calm(t, strings.Join(args, " ")+" in a hostile home", r.out+r.err)
	}
}

// TestNoText: no verb and no query takes a text that is not UTF-8. Names of files are what the system has.
func TestNoText(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	app, err := newProgram([]string{"prof"}, strings.NewReader(""), io.Discard, io.Discard).app()
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{}
	var try func(path []string, list []*cli.Command)
	try = func(path []string, list []*cli.Command) {
		for _, cmd := range list {
			words := append(slices.Clip(path), cmd.Name)
			for _, f := range cmd.Flags {
				_, one := f.(*cli.StringFlag)
				_, several := f.(*cli.StringSliceFlag)
				name := "--" + f.Names()[0]
				if !one && !several || systemNames.MatchString(f.(cli.DocGenerationFlag).GetUsage()) {
					continue
				}
				refused[name] = true
				p.want(result{exitUsage, "", "prof: " + name + " is not UTF-8\n"}, append(words, name+"=a\xff")...)
			}
			try(words, cmd.Subcommands)
		}
	}
	try(nil, app.Commands)
	for _, name := range []string{"--stage", "--search", "--workload", "--kernel", "--tag", "--find", "--rule"} {
		if !refused[name] {
			t.Errorf("no verb has %s", name)
		}
	}
	p.want(result{exitUsage, "", "prof: invalid argument: the SQL is not UTF-8\n"}, "sql", "SELECT '\xff'")
	p.wantLike(exitFailed, "", `prof: .*no such file.*\n`, "ingest", p.path("\xff"))
}

// TestHostileTexts: texts of a capture stay as they are in CSV and JSON that go to a pipe, and are written out on a terminal.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	p := reading(t, absurdRuns(t))
	for _, form := range []string{"csv", "json"} {
		piped := p.ok("query", "top-kernels", "--run", "wicked", "--format", form)
		if form == "csv" && !strings.Contains(piped, strings.ToValidUTF8(evil, "")) {
			t.Errorf("%s in a pipe is not exact: %q", form, piped)
		}
		calm(t, form+" on a terminal", onTerminal(p, 200, "query", "top-kernels", "--run", "wicked", "--format", form))
	}
	for _, args := range [][]string{{"show", "wicked"}, {"query", "top-kernels", "--run", "wicked"}, {"query", "ranges", "--run", "wicked", "--wide"}, {"explain", "wicked"}, {"runs"}, {"sql", "SELECT name FROM process"}, {"sql", "--format", "csv", "SELECT name FROM process"}, {"report", "wicked", "--out", "-"}} {
		calm(t, strings.Join(args, " "), onTerminal(p, 120, args...))
	}
	if drawn := onTerminal(p, 120, "query", "top-kernels", "--run", "wicked", "--wide"); !strings.Contains(drawn, "\x1b[1m") || !strings.Contains(drawn, `\x1b[2J`) {
		t.Errorf("no style, or nothing written out: %q", drawn)
	}
}

// TestRunNames: a name of a run is printable, no longer than 200 characters, and no other way to name a run.
func TestRunNames(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	for _, name := range []string{"baseline:x", "tag:x=y", "@latest", "@latest~2", "a\tb", "a\x1b[2J", "a\u202eb", "a\u200bb", " a", "a\u00a0b", strings.Repeat("x", 201), "hf_" + "q7RkV2w9Xb4TnL6pYd8sMj3H"} {
		r := p.run("ingest", "--run", name, exported(t, kernels))
		if r.code == 0 || r.out != "" || !strings.HasPrefix(r.err, "prof: run name ") || strings.Count(r.err, "\n") != 1 || len(r.err) > 300 {
			t.Errorf("%q: %+v", name, r)
		}
		calm(t, name, r.err)
	}
	p.ok("ingest", "--run", "数"+strings.Repeat("x", 199), exported(t, "../serving/own.json"))
}
