// Package sqlfile reads the files in which queries and facts are written: a header of comments that documents a relation, an empty line,
// and the SELECT that gives its rows. What terms has a list of, a file names in braces: {timelines} in a sentence, {'timelines'} in SQL, {source} for a parameter.
// What it has for each part of a stage's time or cause of idle time is a template over them: {{range .Causes}}, s.{{.Column}}{{end}}.
package sqlfile

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"prof/schema/terms"
)

//go:embed *.go
var source embed.FS

// Param is a parameter of a relation.
type Param struct {
	Name    string
	Type    string // VARCHAR, BIGINT, DOUBLE, BOOLEAN
	Default string // as SQL; "" when the caller must give it
	Doc     string
}

// Column is a column of a relation.
type Column struct {
	Name string
	Type string // as SQL; "" where the file does not say it
	Doc  string
	// Needs is the BOOLEAN parameter without which the column has no values and is not shown; "" for a column that is always there.
	Needs string
}

// File is one relation.
type File struct {
	Name    string
	Version int    // 0 without one
	Doc     string // one line
	Grain   string // what one row is
	Key     string // columns that identify a row
	Params  []Param
	Columns []Column
	Notes   []string // topics of the caveats that belong with the rows
	Needs   []string // tables without rows of which there is nothing to give; of several with | between any one will do
	Into    string   // the relation that its rows are added to, which documents them; "" where they are one of their own
	Scalar  bool     // one value and not rows
	Body    string   // the SELECT
}

// Parse reads a file of the given name (without folder and ending), which its first line must repeat. A line of the header goes on in those below it that are
// indented by four more. An error names the line.
func Parse(name, text string) (File, error) {
	text, err := filled(text)
	if err != nil {
		return File{}, err
	}
	head, body, ok := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	for n := len(lines) - 1; n > 0; n-- {
		if more, is := strings.CutPrefix(lines[n], "--     "); is {
			lines[n-1], lines[n] = lines[n-1]+" "+strings.TrimSpace(more), ""
		}
	}
	title, doc, titled := strings.Cut(lines[0], ": ")
	title, version, _ := strings.Cut(strings.TrimPrefix(title, "-- "), " v")
	f := File{Name: name, Doc: doc, Body: strings.TrimSpace(body)}
	if version != "" {
		v, err := strconv.Atoi(version)
		if err != nil {
			return File{}, fmt.Errorf("line 1: %q is no version", version)
		}
		f.Version = v
	}
	if !ok || !titled || title != name {
		return File{}, fmt.Errorf("a file has a header that begins with `-- %s: what it gives`, an empty line and a SELECT", name)
	}
	if err := f.parseHeader(lines[1:]); err != nil {
		return File{}, err
	}
	if f.Into == "" && (f.Grain == "" || f.Key == "" || len(f.Columns) == 0) {
		return File{}, fmt.Errorf("the header lacks grain, key or columns")
	}
	return f, nil
}

// inBraces is the name of a list.
var inBraces = regexp.MustCompile(`\{'?[a-z]+( [a-z]+)*'?\}`)

// filled returns a text with the lists of terms in place of their names. Lists are made where a file names them: all of them for each of 400 files would take
// longer than reading these.
func filled(text string) (string, error) {
	var err error
	text = inBraces.ReplaceAllStringFunc(text, func(name string) string {
		list, ok := terms.InBraces(name[1 : len(name)-1])
		if !ok {
			err = errors.Join(err, fmt.Errorf("terms has no list %s", name))
		}
		return list
	})
	return text, err
}

func (f *File) parseHeader(lines []string) error {
	section := ""
	for n, line := range lines {
		text, ok := strings.CutPrefix(line, "-- ")
		name, value, _ := strings.Cut(text, ": ")
		switch {
		case line == "", ok && f.field(name, value): // "" is part of the line above
		case text == "params:", text == "columns:":
			section = text
		case section == "params:":
			p, ok := parseParam(text)
			if !ok {
				return fmt.Errorf("line %d: a parameter is written `name TYPE = default: meaning`: %q", n+2, line)
			}
			f.Params = append(f.Params, p)
		default:
			c, ok := parseColumn(text)
			if !ok || section == "" {
				return fmt.Errorf("line %d: a column is written `name TYPE: meaning`: %q", n+2, line)
			}
			f.Columns = append(f.Columns, c)
		}
	}
	return nil
}

// field takes a line that is no part of a list; ok is false for another.
func (f *File) field(name, value string) (ok bool) {
	switch name {
	case "grain":
		f.Grain = value
	case "key":
		f.Key = value
	case "notes":
		f.Notes = strings.Fields(value)
	case "needs":
		f.Needs = strings.Fields(value)
	case "into":
		f.Into = value
	case "scalar":
		f.Scalar = true
	default:
		return false
	}
	return true
}

// parseParam reads `  name TYPE = default: meaning`, the default being optional.
func parseParam(text string) (Param, bool) {
	left, doc, ok := strings.Cut(text, ": ")
	left, def, _ := strings.Cut(left, " = ")
	words := strings.Fields(left)
	if !ok || len(words) != 2 || words[1] != strings.ToUpper(words[1]) {
		return Param{}, false
	}
	return Param{Name: words[0], Type: words[1], Default: def, Doc: doc}, true
}

// parseColumn reads `  name TYPE [parameter]: meaning`, type and parameter being optional.
func parseColumn(text string) (Column, bool) {
	left, doc, ok := strings.Cut(text, ": ")
	words := strings.Fields(left)
	if !ok || len(words) == 0 {
		return Column{}, false
	}
	c := Column{Name: words[0], Doc: doc}
	for _, word := range words[1:] {
		switch {
		case c.Needs == "" && strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]"):
			c.Needs = word[1 : len(word)-1]
		case c.Type == "" && word == strings.ToUpper(word):
			c.Type = word
		default:
			return Column{}, false
		}
	}
	return c, true
}

// Checksum identifies the files of a pattern by their names and texts, and what fills them: the words, and the program that puts them in. To fill each file as well
// would take as long as to parse it.
func Checksum(files fs.FS, pattern string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, terms.Parts, terms.Causes, terms.Sources, terms.Measures)
	for _, of := range []struct {
		files   fs.FS
		pattern string
	}{{source, "*.go"}, {terms.Code, "*.go"}, {files, pattern}} {
		names, err := fs.Glob(of.files, of.pattern)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			text, err := fs.ReadFile(of.files, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n", name, len(text))
			h.Write(text)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
