// Package dialect writes prof's relations over many runs as SQL for other engines, which read the Parquet files of a lake themselves.
//
// A relation is written once, in SQL that DuckDB, Spark and Trino all read: CAST for ::, FILTER and QUALIFY by other means, a window for a median, doubles with an exponent. What is
// still different, which types there are and how an engine rounds a great number, is a function of the template.
package dialect

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"prof/schema/sqlfile"
)

//go:embed sql/*.sql
var files embed.FS

// wholePass are the measured passes of all runs, each with all processes that do it together, as _whole-pass of queries/sql.
//
//go:embed whole-pass.sql
var wholePass string

// Relation is one relation over all runs.
type Relation struct {
	Name    string   // as in SQL
	Doc     string   // one line
	Columns []string // in their order
	Left    []string // columns of prof's query that it lacks
	Body    string   // the SELECT, a template
}

// Own are the relations that are written for other engines, as their files have them: of the query of the same name, with the columns that it lacks.
func Own() (out []sqlfile.File, err error) {
	list, err := files.ReadDir("sql")
	if err != nil {
		return nil, err
	}
	for _, entry := range list {
		text, err := files.ReadFile(path.Join("sql", entry.Name()))
		if err != nil {
			return nil, err
		}
		f, err := sqlfile.Parse(strings.TrimSuffix(entry.Name(), ".sql"), string(text))
		if err != nil {
			return nil, fmt.Errorf("dialect/sql/%s: %w", entry.Name(), err)
		}
		out = append(out, f)
	}
	return out, nil
}

// Column is a column of a table.
type Column struct {
	Name, Type string // the type as DuckDB has it
}

// Table is a table as an engine finds it.
type Table struct {
	Name    string
	Columns []Column
	Files   []string // the Parquet files that hold its rows, and nothing else
	Rows    int64    // that the files have together
}

// relation and query match what a SELECT reads from, and the names that it gives to queries of its own.
var (
	relation = regexp.MustCompile(`(DISTINCT )?\b(?:FROM|JOIN) ([a-z_]+)`)
	query    = regexp.MustCompile(`\b([a-z_]+) AS \((?: --.*)?\n`)
	comment  = regexp.MustCompile(`(?m) *--.*$`)
)

// Tables lists the tables that a relation is made of.
func (r Relation) Tables() (out []string) {
	text := comment.ReplaceAllString(r.Body, "")
	var own []string
	for _, m := range query.FindAllStringSubmatch(text, -1) {
		own = append(own, m[1])
	}
	for _, m := range relation.FindAllStringSubmatch(text, -1) {
		if m[1] == "" && !slices.Contains(own, m[2]) && !slices.Contains(out, m[2]) { // IS DISTINCT FROM compares
			out = append(out, m[2])
		}
	}
	slices.Sort(out)
	return out
}

// TablesOf lists the tables that relations are made of.
func TablesOf(list []Relation) (out []string) {
	for _, r := range list {
		out = append(out, r.Tables()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Dialect is the SQL of an engine.
type Dialect struct {
	Name, Doc string
	huge      string                              // type of whole numbers of 38 digits
	double    func(huge string) string            // such a number as a DOUBLE, rounded as DuckDB does
	text      func(id string) string              // the id of a run as text
	base      func(b *strings.Builder, t Table)   // statements that make a table
	view      string                              // begins the statement that makes a view
	check     func(b *strings.Builder, t []Table) // a statement that fails where a table does not have its rows
}

// Select is a relation's SELECT in the dialect.
func (d *Dialect) Select(r Relation) (string, error) {
	t, err := template.New(r.Name).Funcs(template.FuncMap{"mean": mean, "median": median, "middle": middle, "squares": d.squares, "std": d.std, "wholePass": func() string { return wholePass }}).Parse(r.Body)
	if err != nil {
		return "", err
	}
	var body strings.Builder
	if err := t.Execute(&body, nil); err != nil {
		return "", err
	}
	columns := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		columns[i] = "q." + c
		if c == "run_id" {
			columns[i] = d.text("q.run_id") + " AS run_id"
		}
	}
	return fmt.Sprintf("SELECT %s FROM (\n%s\n) q", strings.Join(columns, ", "), body.String()), nil
}

// mean is that of whole numbers.
func mean(x string) string {
	return fmt.Sprintf("CAST(sum(%s) AS DOUBLE) / nullif(count(%[1]s), 0)", x)
}

// median is that of whole numbers, of which each has its place in their order or, where it stands for several, that of the last of them. Not every engine has an exact one.
func median(x, upto, n string) string {
	return fmt.Sprintf("(min(CASE WHEN 2 * %[2]s > %[3]s - 1 THEN %[1]s END) + min(CASE WHEN 2 * %[2]s > %[3]s THEN %[1]s END)) / 2E0", x, upto, n)
}

// middle is the mean of whole numbers at the middle places of n of an order, one or two, as _median_pass in queries/sql: unknown where one of them is.
func middle(x, nth, n string) string {
	at := fmt.Sprintf("CASE WHEN 2 * %s BETWEEN %s AND %[2]s + 2 THEN %%s END", nth, n)
	return fmt.Sprintf("CASE WHEN count(%s) = count(%s) THEN %s END", fmt.Sprintf(at, x), fmt.Sprintf(at, "1"), mean(fmt.Sprintf(at, x)))
}

// squares is the sum of the squares of whole numbers, each as often as count says.
func (d *Dialect) squares(x string, count ...string) string {
	factors := append([]string{fmt.Sprintf("CAST(%s AS %s)", x, d.huge), x}, count...)
	return "sum(" + strings.Join(factors, " * ") + ")"
}

// std is the standard deviation of n whole numbers by their sum and that of their squares, as _std in queries/sql: exact unless they are absurd.
func (d *Dialect) std(n, sum, squares string) string {
	double := func(x string) string { return fmt.Sprintf("CAST(%s AS DOUBLE)", x) }
	wide := fmt.Sprintf("(CAST(%s AS %s) * %s - CAST(%s AS %[2]s) * %[4]s)", n, d.huge, squares, sum)
	return fmt.Sprintf(`CASE WHEN %[1]s > 1 THEN sqrt(CASE WHEN %[2]s * %[3]s < 1E38 THEN %[4]s ELSE greatest(%[2]s * %[5]s - %[6]s * %[6]s, 0E0) END / (%[2]s * (%[1]s - 1))) END`,
		n, double(n), double(squares), d.double(wide), d.double(squares), double(sum))
}

// Script is the statements that make tables and the relations of them. An error names a table that is missing.
func (d *Dialect) Script(head string, list []Relation, tables []Table) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(head) {
		b.WriteString(strings.TrimSpace("-- "+line) + "\n")
	}
	b.WriteString("\n")
	for _, name := range TablesOf(list) {
		if !slices.ContainsFunc(tables, func(t Table) bool { return t.Name == name }) {
			return "", fmt.Errorf("there is no table %s", name)
		}
	}
	for _, t := range tables {
		d.base(&b, t)
	}
	d.check(&b, tables)
	for _, r := range list {
		body, err := d.Select(r)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n-- %s: %s\n", r.Name, r.Doc)
		if len(r.Left) > 0 {
			fmt.Fprintf(&b, "-- Without %s.\n", strings.Join(r.Left, ", "))
		}
		fmt.Fprintf(&b, "%s %s AS\n%s;\n", d.view, r.Name, body)
	}
	return b.String(), nil
}

// none is the rows of a table that has no files.
func none(t Table, typeOf func(string) string) string {
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, fmt.Sprintf("CAST(NULL AS %s) AS %s", typeOf(c.Type), c.Name))
	}
	return "SELECT " + strings.Join(columns, ", ") + " WHERE 1 = 0"
}

// counted are the tables with the rows that they are to have and those that they have, as a SELECT.
func counted(tables []Table) string {
	var list []string
	for _, t := range tables {
		if len(t.Files) > 0 {
			list = append(list, fmt.Sprintf("SELECT '%s' AS name, CAST(%d AS BIGINT) AS expected, count(*) AS found FROM %[1]s", t.Name, t.Rows))
		}
	}
	return strings.Join(list, "\n    UNION ALL ")
}
