package schema

import (
	"fmt"
	"regexp"
	"strings"
)

// ddlTable is what a migration file says of one table: its comment and its columns' comments.
type ddlTable struct {
	name, doc string
	columns   [][2]string // name, doc
}

var (
	ddlCreate = regexp.MustCompile(`^CREATE TABLE (\w+) \($`)
	ddlColumn = regexp.MustCompile(`^    (\w+) [A-Z][A-Z\[\] ]*,? -- (.+)$`)
	ddlMore   = regexp.MustCompile(`^        -- (.+)$`)
)

// parseDDL reads the comments of a migration file: the lines before CREATE TABLE are the table's, the rest of a column's
// line is the column's, with the lines of deeper comments below it. A column without a comment is an error, so that every one ends up documented in the warehouse.
func parseDDL(text string) ([]ddlTable, error) {
	var tables []ddlTable
	var doc []string
	open := false
	for n, line := range strings.Split(text, "\n") {
		switch {
		case open && line == ");":
			open = false
		case open:
			t := &tables[len(tables)-1]
			if m := ddlMore.FindStringSubmatch(line); m != nil && len(t.columns) > 0 {
				t.columns[len(t.columns)-1][1] += " " + m[1]
				continue
			}
			m := ddlColumn.FindStringSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("line %d: a column is written `name TYPE, -- meaning`: %q", n+1, line)
			}
			t.columns = append(t.columns, [2]string{m[1], m[2]})
		case strings.HasPrefix(line, "-- "):
			doc = append(doc, strings.TrimPrefix(line, "-- "))
		case line == "":
			doc = nil
		default:
			if m := ddlCreate.FindStringSubmatch(line); m != nil {
				if len(doc) == 0 {
					return nil, fmt.Errorf("line %d: table %s has no comment", n+1, m[1])
				}
				tables = append(tables, ddlTable{name: m[1], doc: strings.Join(doc, " ")})
				open = true
			}
			doc = nil
		}
	}
	return tables, nil
}

// comments returns the COMMENT ON statements for the tables.
func comments(tables []ddlTable) string {
	var b strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&b, "COMMENT ON TABLE %s IS %s;\n", t.name, Quote(t.doc))
		for _, c := range t.columns {
			fmt.Fprintf(&b, "COMMENT ON COLUMN %s.%s IS %s;\n", t.name, c[0], Quote(c[1]))
		}
	}
	return b.String()
}

// Quote writes a text as a SQL string literal.
func Quote(s string) string {
	text := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, "\x00") { // which would end the statement
		text = "(" + strings.ReplaceAll(text, "\x00", "' || chr(0) || '") + ")"
	}
	return text
}
