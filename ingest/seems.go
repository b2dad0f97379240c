package ingest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"prof/internal/file"
	"prof/internal/suggest"
)

// FormatDocs are what prof reads, a line each.
func FormatDocs() (out []string) {
	for _, f := range Formats() {
		if f.Doc != "" {
			out = append(out, f.Doc)
		}
	}
	return append(out, "any of these as .gz or .zst")
}

// named are ends of names of formats that are known by their content: a file of that name with another content is none of them.
var named = []struct{ end, what, instead string }{
	{".sqlite", "its name is that of an SQLite export, but not its content", "export the report again (nsys export --type sqlite)"},
	{".ncu-rep", "its name is that of a report of Nsight Compute, but not its content", "copy it again, or give the report's pages (ncu --page raw --csv)"},
	{".proftrace", "its name is that of a trace of prof's tracer, but not its content", "copy it again"},
	{".db", "it is no rocpd database", "give rocprofv3's results.db, or its JSON or CSV traces"},
}

// seems returns what a file of no known form seems to be, why prof does not read it, and what to give in its place.
func seems(path string, head []byte) string {
	name := withoutPacking(strings.ToLower(filepath.Base(path)))
	for _, n := range named {
		if strings.HasSuffix(name, n.end) {
			return n.what + "; " + n.instead
		}
	}
	text := bytes.TrimSpace(file.PastMark(head))
	switch {
	case bytes.HasPrefix(text, []byte("version https://git-lfs")):
		return "it is a pointer of Git LFS, not the file; fetch that: git lfs pull"
	case bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(head[:len(head)-min(len(head), utf8.UTFMax)]):
		return "it seems to be binary data of a tool that prof does not know; give that tool's export as SQLite, CSV or JSON"
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return ofJSON(text)
	case len(text) > 0 && text[0] == '<':
		return "it seems to be XML or a web page, in which prof finds no figures; give the capture that it shows"
	}
	line, _, more := bytes.Cut(text, []byte("\n"))
	for _, comma := range ",\t;" {
		r := csv.NewReader(bytes.NewReader(line))
		r.Comma = comma
		if cells, err := r.Read(); more && err == nil && len(cells) > 2 {
			return fmt.Sprintf("it seems to be a table with the columns %s, which is none of nsys, ncu, rocprof or PyTorch that prof knows; give the report or trace that it was made of", some(cells))
		}
	}
	if len(line) == 0 {
		return "it has nothing but blanks: the capture was cut off; take it again"
	}
	return fmt.Sprintf("it seems to be text that begins %q, without a table of a profiler; give the profiler's own file", shortened(string(line)))
}

// ofJSON returns what JSON of an unknown kind holds.
func ofJSON(text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "it seems to be JSON that is a list, neither of a trace's events nor of rows of key_averages(); give the profiler's own file"
	}
	var members []string
	for d.More() && len(members) < 100 {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			break
		}
		members = append(members, key)
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
	}
	if len(members) == 0 {
		return "it begins as JSON does, and is none: it was cut off or edited; give the profiler's own file"
	}
	return fmt.Sprintf("it seems to be JSON with the members %s, which is of no profiler or load generator that prof knows: a trace has traceEvents; give the profiler's own file", some(members))
}

// mostNamed bounds how many columns or members a message names.
const mostNamed = 5

func some(names []string) string {
	var out []string
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, shortened(n))
		}
	}
	return suggest.List(out, mostNamed)
}

func shortened(s string) string {
	if r := []rune(strings.ToValidUTF8(s, "\uFFFD")); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}
