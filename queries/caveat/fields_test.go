package caveat

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFields holds that the columns which SQL fills of a kind are those that the kind says it has, and no others. Of several kinds of one SELECT each has
// some of its columns, and of kinds that come from a table, some of those of the file.
func TestFields(t *testing.T) {
	files := map[string][]selected{}
	filled := map[string]map[string]bool{} // of kinds that a SELECT names
	for _, pattern := range []string{"../../schema/facts/sql/*/caveat*.sql", "../sql/*/_caveat-*.sql"} {
		paths, _ := filepath.Glob(pattern)
		if len(paths) == 0 {
			t.Fatalf("%s: no files", pattern)
		}
		for _, path := range paths {
			files[path] = selects(t, path)
			for _, s := range files[path] {
				for _, k := range s.kinds {
					if filled[k] == nil {
						filled[k] = map[string]bool{}
					}
					maps.Copy(filled[k], s.columns)
				}
			}
		}
	}
	for path, list := range files {
		fromTables := map[string]bool{}
		for _, s := range list {
			if s.kinds == nil {
				maps.Copy(fromTables, s.columns)
				continue
			}
			declared := map[string]bool{}
			for _, k := range s.kinds {
				for _, f := range FieldsOf(k) {
					declared[f.Column] = true
				}
			}
			for column := range s.columns {
				if !declared[column] {
					t.Errorf("%s fills %s, which %v does not have", path, column, s.kinds)
				}
			}
		}
		for _, k := range kindsIn(t, path) {
			if filled[k] == nil {
				filled[k] = fromTables
			}
		}
	}
	for _, k := range Kinds() {
		for _, f := range FieldsOf(k) {
			if columns := filled[k]; columns != nil && !columns[f.Column] {
				t.Errorf("%s has %s (%s), which no SQL fills", k, f.Column, f.Meaning)
			}
		}
		if goes := []string{"nothing-picked", "no-name-fits", "no-operator-fits", "mfu-over-1", "mbu-over-1", FactsLacking}; filled[k] == nil && !slices.Contains(goes, k) {
			t.Errorf("no SQL gives %s", k)
		}
	}
}

// kindsIn are the kinds that a file names, those of table loss included where it reads that.
func kindsIn(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := known(string(text))
	if strings.Contains(string(text), "FROM loss ") {
		out = append(out, lossKinds...)
	}
	return out
}

// selected is what one SELECT of a union gives.
type selected struct {
	kinds   []string        // nil where they come from a table
	columns map[string]bool // of the caveat, but for NULLs
}

var (
	comments = regexp.MustCompile(`--[^\n]*`)
	alias    = regexp.MustCompile(`(?i)(?:\bAS )?\b(\w+)$`)
	literal  = regexp.MustCompile(`'([a-z0-9]+(?:-[a-z0-9]+)+)'`)
)

// known are the kinds that a text names.
func known(text string) []string {
	var out []string
	for _, m := range literal.FindAllStringSubmatch(text, -1) {
		if _, is := words[m[1]]; is && !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// selects reads what a file of SQL selects in the end.
func selects(t *testing.T, path string) []selected {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "\n\n")
	var out []selected
	var names []string // of the first, whose columns a union without names has
	for _, piece := range outer(comments.ReplaceAllString(body, ""), regexp.MustCompile(`^UNION ALL\b( BY NAME\b)?`)) {
		parts := outer(piece, regexp.MustCompile(`^SELECT\b`))
		list := outer(parts[len(parts)-1], regexp.MustCompile(`^(FROM|WHERE|HAVING)\b`))[0]
		s := selected{columns: map[string]bool{}}
		for i, item := range outer(list, regexp.MustCompile(`^,`)) {
			item = strings.TrimSpace(item)
			m := alias.FindStringSubmatch(item)
			name := ""
			if m != nil {
				name = m[1]
			}
			if len(out) == 0 {
				names = append(names, name)
			} else if !strings.Contains(body, "BY NAME") {
				name = names[i]
			}
			if name == "kind" {
				s.kinds = known(item)
			} else if columns(&C{})[name] != nil && !strings.HasPrefix(item, "NULL ") {
				s.columns[name] = true
			}
		}
		out = append(out, s)
	}
	return out
}

// outer cuts a text at what matches outside of brackets and quotes.
func outer(text string, at *regexp.Regexp) []string {
	var out []string
	depth, quoted, start := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case depth == 0 && (i == 0 || c == ',' || strings.ContainsRune(" \n", rune(text[i-1]))):
			if m := at.FindString(text[i:]); m != "" {
				out = append(out, text[start:i])
				start = i + len(m)
				i = start - 1
			}
		}
	}
	return append(out, text[start:])
}
