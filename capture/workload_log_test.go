package capture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"prof/internal/mask"
)

// logged returns the log of a text that comes in pieces, and whether there is one.
func logged(t testing.TB, text string, piece func() int) (string, bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	l, err := newWorkloadLog(path, mask.Text)
	if err != nil {
		t.Fatal(err)
	}
	lines := logLines{log: l}
	for len(text) > 0 {
		n := min(piece(), len(text))
		lines.add([]byte(text[:n]))
		text = text[n:]
	}
	lines.close()
	isEmpty, err := l.close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(path)
	if isEmpty != os.IsNotExist(err) {
		t.Fatalf("empty: %v, %v", isEmpty, err)
	}
	return string(out), !isEmpty
}

func TestWorkloadLog(t *testing.T) {
	long := strings.Repeat("x y ", maxLogLine/4)
	for name, c := range map[string]struct{ in, want string }{
		"nothing":          {"", ""},
		"lines":            {"one\ntwo\n", "one\ntwo\n"},
		"empty lines":      {"\n\none\n\n", "\n\none\n\n"},
		"no end":           {"one\ntwo", "one\ntwo\n"},
		"of a terminal":    {"one\r\ntwo\r\r\n", "one\ntwo\n"},
		"progress bar":     {"\r 1 %\r 50 %\r100 %\nnext\r", "100 %\nnext\n"},
		"progress, no end": {"1 %\r50 %", "50 %\n"},
		"colours":          {"\x1b[1;31mred\x1b[0m\x1b[2K \x1b]0;title\x07", "red \\x1b]0;title\\a\n"},
		"secret, coloured": {"key \x1b[31mhf_abcdefghijklmnop\x1b[0mqrstuvwxyzABCDEFGH.\n", "key ***.\n"},
		"a key":            {"-----BEGIN PRIVATE KEY-----\r\nMC4CAQAwBQYDK2VwBCIEIJ\r\nabc=\r\n-----END PRIVATE KEY-----\r\nnext\r\n", "***\n***\n***\n***\nnext\n"},
		"a coloured key":   {"\x1b[31m-----BEGIN PRIVATE KEY-----\n\x1b[31mMC4CAQAwBQYDK2VwBCIEIJ\x1b[0m\n", "***\n***\n"},
		"a key over again": {"-----BEGIN PRIVATE KEY-----\rMC4CAQAwBQYDK2VwBCIEIJ\rabcdef\nnext = 3\n", "***\nnext = 3\n"},
		"a key, cut":       {long + "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJabcdefghijk\nabc\nnext = 3\n", long[:maxLogShow] + fmt.Sprintf(" [... %d bytes more]\n***\n***\nnext = 3\n", len(long)+27-maxLogShow)},
		"a value below":    {"export MY_TOKEN=\\\nhunter2\n", "export MY_TOKEN=***\n***\n"},
		"reordering":       {"a\u202eb\u2066 \tc\x00\x7f é \xff\n", `a\u202eb\u2066 ` + "\tc" + `\x00\x7f é \xff` + "\n"},
		"long":             {long + "zz\n", long[:maxLogShow] + fmt.Sprintf(" [... %d bytes more]\n", len(long)+2-maxLogShow)},
		"after a long one": {long + "zz\rshort\n", "short\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{1, 7, 1 << 20} {
				if got, ok := logged(t, c.in, func() int { return piece }); got != c.want || ok != (c.want != "") {
					t.Errorf("in pieces of %d: %.300q, want %.300q", piece, got, c.want)
				}
			}
		})
	}
}

// A log has the beginning and the end, says what is missing between, and is bounded.
func TestWorkloadLogCut(t *testing.T) {
	var text strings.Builder
	const n = 300_000
	for i := range n {
		fmt.Fprintf(&text, "line %d of many\n", i)
	}
	got, _ := logged(t, text.String(), func() int { return 1000 })
	head, rest, found := strings.Cut(got, "[... ")
	var lines, bytes int
	var tail string
	if _, err := fmt.Sscanf(rest, "%d lines with %d bytes are not kept ...]\n", &lines, &bytes); err != nil || !found {
		t.Fatalf("%v: %.100q", err, rest)
	}
	_, tail, _ = strings.Cut(rest, "\n")
	if !strings.HasPrefix(text.String(), head) || !strings.HasSuffix(text.String(), tail) {
		t.Error("it has not the beginning and the end")
	}
	if len(head)+len(tail)+bytes != text.Len() || strings.Count(head+tail, "\n")+lines != n {
		t.Errorf("%d bytes and %d lines are not accounted for", text.Len()-len(head)-len(tail)-bytes, n-strings.Count(head+tail, "\n")-lines)
	}
	if len(head) < maxLogEnd/2 || len(tail) < maxLogEnd/2 || len(got) > 2*maxLogEnd+100 {
		t.Errorf("beginning of %d bytes, end of %d", len(head), len(tail))
	}
}

// Whatever a workload writes, in whatever pieces, makes the same lines, which no terminal takes for commands.
func FuzzWorkloadLog(f *testing.F) {
	for _, seed := range []string{"one\r\ntwo\n", "\x1b[31m\r%\rx", "\u202e\xff\x9b1m", "password=\rhunter2\n"} {
		f.Add(seed, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		whole, _ := logged(t, text, func() int { return len(text) })
		if pieces, _ := logged(t, text, func() int { return 1 + r.IntN(9) }); pieces != whole {
			t.Errorf("in pieces %q, whole %q", pieces, whole)
		}
		if at := strings.IndexFunc(whole, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar && !strings.ContainsRune(text, r))
		}); at >= 0 {
			t.Errorf("%q", whole[at:])
		}
	})
}

// Short lines cost by their bytes, whether or not a value could follow them.
func BenchmarkWorkloadLog(b *testing.B) {
	for name, line := range map[string]string{"short": "y\n", "comma": "1,\n", "usual": "INFO 01-02 10:00:00 [loggers.py:127] Engine 000: Avg prompt throughput: 512.0 tokens/s, Running: 8 reqs\n"} {
		b.Run(name, func(b *testing.B) {
			l, err := newWorkloadLog(filepath.Join(b.TempDir(), "log"), mask.Text)
			if err != nil {
				b.Fatal(err)
			}
			text := []byte(strings.Repeat(line, maxLogLine/len(line)))
			lines := logLines{log: l}
			for range 2 * maxLogEnd / len(text) { // the beginning is masked as it comes
				lines.add(text)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				lines.add(text)
			}
			if _, err := l.close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
