// Package sqlfile reads the files in which queries and facts are written: a header of comments that documents a relation, an empty line,
// and the SELECT that gives its rows.
package sqlfile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

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
	Needs   []string // tables without rows of which there is nothing to give
	Into    string   // the relation that its rows are added to, which documents them; "" where they are one of their own
	Scalar  bool     // one value and not rows
	Body    string   // the SELECT
}

var (
	titleLine  = regexp.MustCompile(`^-- (_?[a-z][a-z0-9_-]*)(?: v(\d+))?: (.+)$`)
	paramLine  = regexp.MustCompile(`^--   (\w+) ([A-Z]+)(?: = ([^:]+))?: (.+)$`)
	columnLine = regexp.MustCompile(`^--   (\w+)(?: ([A-Z][A-Z\[\]]*))?(?: \[(\w+)\])?: (.+)$`)
	moreLine   = regexp.MustCompile(`^--     (.+)$`)
)

// Parse reads a file of the given name (without folder and ending), which its first line must repeat. An error names the line.
func Parse(name, text string) (File, error) {
	head, body, ok := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	t := titleLine.FindStringSubmatch(lines[0])
	if !ok || t == nil || t[1] != name {
		return File{}, fmt.Errorf("a file has a header that begins with `-- %s: what it gives`, an empty line and a SELECT", name)
	}
	f := File{Name: name, Doc: t[3], Body: strings.TrimSpace(body)}
	if t[2] != "" {
		v, err := strconv.Atoi(t[2])
		if err != nil {
			return File{}, err
		}
		f.Version = v
	}
	if err := f.parseHeader(lines[1:]); err != nil {
		return File{}, err
	}
	if f.Into == "" && (f.Grain == "" || f.Key == "" || len(f.Columns) == 0) {
		return File{}, fmt.Errorf("the header lacks grain, key or columns")
	}
	return f, nil
}

func (f *File) parseHeader(lines []string) error {
	section, last := "", (*string)(nil)
	for n, line := range lines {
		field, value, _ := strings.Cut(strings.TrimPrefix(line, "-- "), ": ")
		switch field {
		case "grain":
			f.Grain = value
			continue
		case "key":
			f.Key = value
			continue
		case "notes":
			f.Notes = strings.Fields(value)
			continue
		case "needs":
			f.Needs = strings.Fields(value)
			continue
		case "into":
			f.Into = value
			continue
		case "scalar":
			f.Scalar = true
			continue
		case "params:", "columns:":
			section = field
			continue
		}
		if m := moreLine.FindStringSubmatch(line); m != nil && last != nil {
			*last += " " + m[1]
			continue
		}
		if m := paramLine.FindStringSubmatch(line); m != nil && section == "params:" {
			f.Params = append(f.Params, Param{m[1], m[2], m[3], m[4]})
			last = &f.Params[len(f.Params)-1].Doc
			continue
		}
		m := columnLine.FindStringSubmatch(line)
		if m == nil || section != "columns:" {
			return fmt.Errorf("line %d: a parameter is written `name TYPE = default: meaning`, a column `name TYPE: meaning`: %q", n+2, line)
		}
		f.Columns = append(f.Columns, Column{Name: m[1], Type: m[2], Needs: m[3], Doc: m[4]})
		last = &f.Columns[len(f.Columns)-1].Doc
	}
	return nil
}
