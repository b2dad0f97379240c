// Package queries owns every SELECT over the warehouse: named, versioned SQL files that are installed in the warehouse as
// views and table macros, and run by name.
package queries

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"prof/internal/suggest"
	"prof/schema"
)

//go:embed sql/*.sql
var files embed.FS

// Param is a parameter of a query.
type Param struct {
	Name    string
	Type    string // VARCHAR, BIGINT, DOUBLE, BOOLEAN
	Default string // as SQL; "" when the caller must give it
	Doc     string
}

// Query is one version of a named query, as its file says.
type Query struct {
	Name    string // as on the command line: top-kernels
	Version int
	Doc     string // one line
	Grain   string // what one row is
	Key     string // columns that identify a row
	Params  []Param
	Columns [][2]string // name and meaning
	// Optional are columns, each with the BOOLEAN parameter without which it has no values and is not shown.
	Optional [][2]string
	Notes    []string // kinds of run notes that belong beside the rows
	Body     string   // the SELECT
	Private  bool     // a building block of other queries
	Scalar   bool     // gives one value and not rows
}

// Relation is the query's name in SQL, with its version.
func (q Query) Relation() string { return fmt.Sprintf("%s_v%d", q.alias(), q.Version) }

// alias is the name in SQL that stands for the newest version.
func (q Query) alias() string { return strings.ReplaceAll(q.Name, "-", "_") }

// TakesRun says whether the query is about one run.
func (q Query) TakesRun() bool { return len(q.Params) > 0 && q.Params[0].Name == "run" }

var (
	fileName  = regexp.MustCompile(`^(_?[a-z][a-z0-9-]*)\.v(\d+)\.sql$`)
	titleLine = regexp.MustCompile(`^-- (_?[a-z][a-z0-9-]*) v(\d+): (.+)$`)
	paramLine = regexp.MustCompile(`^--   (\w+) ([A-Z]+)(?: = ([^:]+))?: (.+)$`)
	colLine   = regexp.MustCompile(`^--   (\w+)(?: \[(\w+)\])?: (.+)$`)
	moreLine  = regexp.MustCompile(`^--     (.+)$`)
)

// All gives every query, private ones first, by name and version.
func All() ([]Query, error) { return registry() }

// registry reads the files once; every command needs them several times.
var registry = sync.OnceValues(func() ([]Query, error) { return parseAll(files) })

func parseAll(in fs.FS) ([]Query, error) {
	names, err := fs.Glob(in, "sql/*")
	if err != nil {
		return nil, err
	}
	var out []Query
	for _, path := range names {
		text, err := fs.ReadFile(in, path)
		if err != nil {
			return nil, err
		}
		q, err := parse(strings.TrimPrefix(path, "sql/"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b Query) int {
		if a.Private != b.Private {
			if a.Private {
				return -1
			}
			return 1
		}
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.Version - b.Version
	})
	return out, nil
}

// parse reads a query file: a header of comments, an empty line, and the SELECT.
func parse(file, text string) (Query, error) {
	m := fileName.FindStringSubmatch(file)
	head, body, ok := strings.Cut(text, "\n\n")
	if m == nil || !ok {
		return Query{}, fmt.Errorf("a query file is named NAME.vN.sql and has a header, an empty line and a SELECT")
	}
	lines := strings.Split(head, "\n")
	t := titleLine.FindStringSubmatch(lines[0])
	if t == nil || t[1] != m[1] || t[2] != m[2] {
		return Query{}, fmt.Errorf("line 1 must be `-- %s v%s: what it gives`", m[1], m[2])
	}
	v, err := strconv.Atoi(m[2])
	if err != nil {
		return Query{}, err
	}
	q := Query{Name: m[1], Version: v, Doc: t[3], Body: strings.TrimSpace(body), Private: strings.HasPrefix(m[1], "_")}
	if err := q.parseHeader(lines[1:]); err != nil {
		return Query{}, err
	}
	if q.Grain == "" || q.Key == "" || len(q.Columns) == 0 {
		return Query{}, fmt.Errorf("the header lacks grain, key or columns")
	}
	return q, nil
}

func (q *Query) parseHeader(lines []string) error {
	section, last := "", (*string)(nil)
	for n, line := range lines {
		if v, ok := strings.CutPrefix(line, "-- grain: "); ok {
			q.Grain = v
			continue
		}
		if v, ok := strings.CutPrefix(line, "-- key: "); ok {
			q.Key = v
			continue
		}
		if v, ok := strings.CutPrefix(line, "-- notes: "); ok {
			q.Notes = strings.Fields(v)
			continue
		}
		if strings.HasPrefix(line, "-- scalar: ") {
			q.Scalar = true
			continue
		}
		if line == "-- params:" || line == "-- columns:" {
			section = line
			continue
		}
		if m := moreLine.FindStringSubmatch(line); m != nil && last != nil {
			*last += " " + m[1]
			continue
		}
		if section == "-- params:" {
			m := paramLine.FindStringSubmatch(line)
			if m == nil {
				return fmt.Errorf("line %d: a parameter is written `name TYPE = default: meaning`", n+2)
			}
			q.Params = append(q.Params, Param{m[1], m[2], m[3], m[4]})
			last = &q.Params[len(q.Params)-1].Doc
			continue
		}
		m := colLine.FindStringSubmatch(line)
		if section != "-- columns:" || m == nil {
			return fmt.Errorf("line %d: not understood: %q", n+2, line)
		}
		q.Columns = append(q.Columns, [2]string{m[1], m[3]})
		if m[2] != "" {
			q.Optional = append(q.Optional, [2]string{m[1], m[2]})
		}
		last = &q.Columns[len(q.Columns)-1][1]
	}
	return nil
}

// Definitions are the relations to install in the warehouse: each version of each query and, under the plain name, the newest
// of each public one.
func Definitions() ([]schema.Definition, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var out []schema.Definition
	for i, q := range all {
		d, pass := q.definition()
		out = append(out, d)
		if q.Private || i+1 < len(all) && all[i+1].Name == q.Name {
			continue
		}
		d.Name = q.alias()
		d.Body = "FROM " + q.Relation()
		if d.IsMacro() {
			d.Body += "(" + strings.Join(pass, ", ") + ")"
		}
		out = append(out, d)
	}
	return inOrder(out), nil
}

// DefinitionsFor are the relations that the named queries and their notes need, in the order in which they can be made.
func DefinitionsFor(names ...string) ([]schema.Definition, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	byName := map[string]Query{}
	for _, q := range all {
		byName[q.Relation()] = q
	}
	var out []schema.Definition
	done := map[string]bool{}
	var put func(q Query)
	put = func(q Query) {
		done[q.Relation()] = true
		for _, word := range relationName.FindAllString(q.Body, -1) {
			if used, ok := byName[word]; ok && !done[word] {
				put(used)
			}
		}
		d, _ := q.definition()
		out = append(out, d)
	}
	for _, name := range names {
		q, err := Find(name)
		if err != nil {
			return nil, err
		}
		list := []Query{q}
		for _, kind := range append(slices.Clone(q.Notes), "source") {
			if own, found := newest(all, "_note-"+kind); found {
				list = append(list, own)
			}
		}
		for _, q := range list {
			if !done[q.Relation()] {
				put(q)
			}
		}
	}
	return out, nil
}

// definition is the query's relation; pass are its parameters as another relation hands them on.
func (q Query) definition() (d schema.Definition, pass []string) {
	d = schema.Definition{Name: q.Relation(), Doc: q.comment(), Body: q.Body, Columns: q.Columns, Scalar: q.Scalar}
	for _, p := range q.Params {
		if p.Default == "" {
			d.Params, pass = append(d.Params, ident(p.Name)), append(pass, ident(p.Name))
		} else {
			d.Params = append(d.Params, ident(p.Name)+" := "+p.Default)
			pass = append(pass, ident(p.Name)+" := "+ident(p.Name))
		}
	}
	return d, pass
}

// ident quotes a parameter's name, since some (by) are words of SQL.
func ident(name string) string { return `"` + name + `"` }

// inOrder puts definitions behind those they use: DuckDB looks the names up when a definition is made.
func inOrder(defs []schema.Definition) []schema.Definition {
	byName := map[string]schema.Definition{}
	for _, d := range defs {
		byName[d.Name] = d
	}
	var out []schema.Definition
	done := map[string]bool{}
	var put func(d schema.Definition)
	put = func(d schema.Definition) {
		if done[d.Name] {
			return
		}
		done[d.Name] = true
		for _, word := range relationName.FindAllString(d.Body, -1) {
			if used, ok := byName[word]; ok {
				put(used)
			}
		}
		out = append(out, d)
	}
	for _, d := range defs {
		put(d)
	}
	return out
}

// relationName finds the names with a version in a SELECT.
var relationName = regexp.MustCompile(`\b\w+_v\d+\b`)

func (q Query) comment() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s v%d: %s Grain: %s. Key: %s. Columns:", schema.DocMark, q.Name, q.Version, q.Doc, q.Grain, q.Key)
	for _, c := range q.Columns {
		fmt.Fprintf(&b, " %s: %s;", c[0], c[1])
	}
	return strings.TrimSuffix(b.String(), ";") + "."
}

// Catalogue gives the newest version of each public query.
func Catalogue() ([]Query, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var out []Query
	for i, q := range all {
		if !q.Private && (i+1 == len(all) || all[i+1].Name != q.Name) {
			out = append(out, q)
		}
	}
	return out, nil
}

// Find gives a query by name, or by name and version as `top-kernels.v1`. Underscores do for dashes.
func Find(name string) (Query, error) {
	all, err := All()
	if err != nil {
		return Query{}, err
	}
	want := strings.ReplaceAll(name, "_", "-")
	var names []string
	var found *Query
	for i, q := range all {
		if q.Private {
			continue
		}
		if q.Name == want || fmt.Sprintf("%s.v%d", q.Name, q.Version) == want {
			found = &all[i]
		}
		if !slices.Contains(names, q.Name) {
			names = append(names, q.Name)
		}
	}
	if found == nil {
		hint := suggest.DidYouMean(want, names)
		if len(suggest.Nearest(want, names)) == 0 {
			hint = "; `prof query` lists them"
		}
		return Query{}, fmt.Errorf("%w: %q%s", ErrUnknownQuery, name, hint)
	}
	return *found, nil
}

// Text is the query as its file says: the documentation, the statement that runs it with the given arguments in any DuckDB
// client, and the SELECT behind it, in which parameters stand by name.
func (q Query) Text(args Args) (string, error) {
	stmt, err := q.Statement(args)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s v%d: %s\n-- grain: %s\n-- key: %s\n", q.Name, q.Version, q.Doc, q.Grain, q.Key)
	for _, p := range q.Params {
		def := ""
		if p.Default != "" {
			def = " = " + p.Default
		}
		fmt.Fprintf(&b, "-- --%s %s%s: %s\n", FlagName(p.Name), p.Type, def, p.Doc)
	}
	b.WriteString("-- columns:\n")
	for _, c := range q.Columns {
		fmt.Fprintf(&b, "--   %s: %s\n", c[0], c[1])
	}
	fmt.Fprintf(&b, "-- in any DuckDB client: %s\n-- which is, its parameters by name:\n\n%s\n", stmt, q.Body)
	return b.String(), nil
}
