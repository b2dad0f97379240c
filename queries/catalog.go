// Package queries owns every SELECT over the warehouse: named, versioned SQL files that are installed in the warehouse as
// views and table macros, and run by name.
package queries

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"prof/internal/suggest"
	"prof/queries/frame"
	"prof/schema"
	"prof/schema/facts"
	"prof/schema/sqlfile"
)

//go:embed sql/*/*.sql
var files embed.FS

// Param is a parameter of a query.
type Param = sqlfile.Param

// Query is a named query, as its file says.
type Query struct {
	Name    string // as on the command line: top-kernels
	Domain  string // the folder of its file: kernels, stages, ...
	Version int    // raised when its meaning changes; 0 of a private one
	Doc     string // one line
	Grain   string // what one row is
	Key     string // columns that identify a row
	Params  []Param
	Columns [][2]string // name and meaning
	// Optional are columns, each with the BOOLEAN parameter without which it has no values and is not shown.
	Optional [][2]string
	Notes    []string // topics of the caveats that belong with the rows
	counts   string   // relation of the sources that it counts
	Body     string   // the SELECT
	Private  bool     // a building block of other queries
	Scalar   bool     // gives one value and not rows
}

// Relation is the query's name in SQL, with its version; its parameter run is the id of a run.
func (q Query) Relation() string {
	if q.Private {
		return q.alias()
	}
	return fmt.Sprintf("%s_v%d", q.alias(), q.Version)
}

// alias is the name in SQL without a version, which takes a run by any reference.
func (q Query) alias() string { return strings.ReplaceAll(q.Name, "-", "_") }

// TakesRun reports whether the query is about one run.
func (q Query) TakesRun() bool { return len(q.Params) > 0 && q.Params[0].Name == "run" }

// Takes reports whether it has a parameter of a name.
func (q Query) Takes(name string) bool {
	return slices.ContainsFunc(q.Params, func(p Param) bool { return p.Name == name })
}

// Lengths are the columns that say how long a row lasts from its start_ns, of which the first that is known counts; nil where rows have no place on the timeline of a run.
func (q Query) Lengths() []string {
	has := func(name string) bool {
		return slices.ContainsFunc(q.Columns, func(c [2]string) bool { return c[0] == name })
	}
	at := slices.IndexFunc(q.Columns, func(c [2]string) bool { return c[0] == "start_ns" })
	if at < 0 || !q.TakesRun() || !strings.Contains(q.Columns[at][1], "from the start of the source") {
		return nil
	}
	names := []string{"duration_ns", "gpu_span_ns", "span_ns", "time_ns", "cpu_ns"}
	if strings.HasPrefix(q.Columns[at][1], "CPU start") {
		names = []string{"duration_ns", "cpu_ns"}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !has(name) })
}

// fileName is sql/DOMAIN/NAME.sql; an older version that was released stays, as NAME.vN.sql. What facts share lies in shared.
var fileName = regexp.MustCompile(`^(?:sql/([a-z]+)|shared)/(_?[a-z][a-z0-9-]*)(?:\.v(\d+))?\.sql$`)

// All returns every query, private ones first, by name and version.
func All() ([]Query, error) { return registry() }

// registry reads the files once; every command needs them several times.
var registry = sync.OnceValues(func() ([]Query, error) { return parseAll(files, facts.Shared) })

func parseAll(rooms ...fs.FS) ([]Query, error) {
	var out []Query
	for _, in := range rooms {
		err := fs.WalkDir(in, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := sqlfile.Text(in, path)
			if err != nil {
				return err
			}
			q, err := parse(path, text)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			out = append(out, q)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b Query) int {
		if a.Private != b.Private {
			if a.Private {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Version-b.Version)
	})
	return out, nil
}

// parse reads a query file, sql/DOMAIN/NAME.sql.
func parse(path, text string) (Query, error) {
	m := fileName.FindStringSubmatch(path)
	if m == nil {
		return Query{}, fmt.Errorf("a query file is sql/DOMAIN/NAME.sql")
	}
	f, err := sqlfile.Parse(m[2], text)
	if err != nil {
		return Query{}, err
	}
	q := Query{Domain: m[1], Name: f.Name, Version: f.Version, Doc: f.Doc, Grain: f.Grain, Key: f.Key, Params: f.Params, Notes: f.Notes,
		Body: f.Body, Private: strings.HasPrefix(f.Name, "_"), Scalar: f.Scalar}
	if q.Private != (q.Version == 0) || m[3] != "" && m[3] != strconv.Itoa(q.Version) {
		return Query{}, fmt.Errorf("line 1 has the version of the file, and none where the name begins with _")
	}
	for _, c := range f.Columns {
		q.Columns = append(q.Columns, [2]string{c.Name, c.Doc})
		if c.Needs != "" {
			q.Optional = append(q.Optional, [2]string{c.Name, c.Needs})
		}
	}
	q.counts = countsOf(q)
	return q, nil
}

// Relations are the queries as relations of a warehouse, see schema.Definitions. The zero value is ready.
type Relations struct{}

// Checksum identifies the queries: their files, and how relations are made of them.
func (Relations) Checksum() (string, error) {
	sum, err := filesSum()
	return relationsVersion + sum, err
}

// relationsVersion is raised when other relations are made of the same files.
const relationsVersion = "2 "

var filesSum = sync.OnceValues(func() (string, error) {
	sum, err := sqlfile.Checksum(files, "sql/*/*.sql")
	if err != nil {
		return "", err
	}
	other, err := sqlfile.Checksum(viewFiles, "views/*.sql")
	if err != nil {
		return "", err
	}
	shared, err := facts.SharedChecksum()
	return sum + other + shared, err
})

// Definitions are the relations to install in the warehouse: each query, and of the newest version of each public one an alias without the
// version, which takes a run by its name or any other reference; and the views for SQL of one's own.
func (Relations) Definitions() ([]schema.Definition, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var out []schema.Definition
	for i, q := range all {
		d, pass := q.definition()
		if q.Private || i+1 < len(all) && all[i+1].Name == q.Name {
			out = append(out, d)
			continue
		}
		named := d
		named.Doc = fmt.Sprintf("%s%s v%d: %s See %s.", schema.DocMark, q.Name, q.Version, q.Doc, q.alias())
		out = append(out, named)
		if q.TakesRun() {
			pass[0] = "_run_id(" + pass[0] + ")"
		}
		d.Name, d.Body = q.alias(), "FROM "+q.Relation()
		if d.IsMacro() {
			d.Body += "(" + strings.Join(pass, ", ") + ")"
		}
		out = append(out, d)
	}
	lower, err := viewsOf(facts.Views)
	if err != nil {
		return nil, err
	}
	own, err := views()
	return slices.Concat(lower, inOrder(out), own), err
}

// DefinitionsFor are the relations that the named queries and their caveats need, in the order in which they can be made.
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
		for word := range sqlfile.Uses(q.Body) {
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
		for _, topic := range q.Notes {
			if own, found := named(all, "_caveat-"+topic); found {
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
		for word := range sqlfile.Uses(d.Body) {
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

// comment is the whole header, one line a part, so that other clients find there what the program knows of the query.
func (q Query) comment() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s v%d: %s\nGrain: %s.\nKey: %s.", schema.DocMark, q.Name, q.Version, q.Doc, q.Grain, q.Key)
	if topics := q.topics(); len(topics) > 0 {
		b.WriteString("\nNotes: " + strings.Join(topics, " "))
	}
	if q.TakesRun() && !q.needsNoTimeline() {
		b.WriteString("\nNotes without rows: " + noTimeline)
	}
	if len(q.Params) > 0 {
		b.WriteString("\nOptions:")
	}
	for _, p := range q.Params {
		fmt.Fprintf(&b, "\n  %s: %s", p.Name, p.Doc)
	}
	b.WriteString("\nColumns:")
	for _, c := range q.Columns {
		b.WriteString("\n  " + c[0])
		if unit := frame.UnitOf(c[0]); unit != frame.None {
			fmt.Fprintf(&b, " (%s)", unit)
		}
		for _, o := range q.Optional {
			if o[0] == c[0] {
				fmt.Fprintf(&b, " [%s]", o[1])
			}
		}
		b.WriteString(": " + c[1])
	}
	return b.String()
}

// Group is a question that queries answer: those whose files lie in one folder.
type Group struct{ Domain, Title string }

// Groups are those of all public queries, in the order in which one asks.
func Groups() []Group {
	return []Group{
		{"stages", "How long do stages and steps take?"},
		{"findings", "What could make it faster?"},
		{"kernels", "Where does the GPU's time go: kernels, copies, idle gaps"},
		{"ranges", "Which part of the program is it: ranges"},
		{"operators", "Which operators of PyTorch take the time and the memory?"},
		{"ncu", "What bounds a kernel: Nsight Compute"},
		{"model", "What does the model need, and how near is the peak: FLOPs, bytes, MFU, MBU"},
		{"ranks", "Do GPUs wait for each other: collectives and ranks"},
		{"serving", "How does a serving engine work: iterations, and what its clients measured"},
		{"compare", "What differs from run to run?"},
		{"capture", "What was captured, how, and on what machine?"},
		{"timeline", "What does a drawn timeline show?"},
	}
}

// Catalogue returns the newest version of each public query.
func Catalogue() ([]Query, error) {
	all, err := All()
	var out []Query
	for i, q := range all {
		if !q.Private && (i+1 == len(all) || all[i+1].Name != q.Name) {
			out = append(out, q)
		}
	}
	return out, err
}

// Find returns a public query by name, the newest version unless the name ends in another's: top-kernels.v2. Underscores do for dashes.
func Find(name string) (Query, error) {
	public, err := Catalogue()
	if err != nil {
		return Query{}, err
	}
	want := strings.ReplaceAll(name, "_", "-")
	if q, found := named(public, want); found {
		return q, nil
	}
	var names []string
	for _, q := range public {
		if version, found := strings.CutPrefix(want, q.Name+".v"); found {
			all, err := All()
			for _, other := range all {
				if other.Name == q.Name && strconv.Itoa(other.Version) == version {
					return other, err
				}
			}
			return Query{}, fmt.Errorf("%w: %q; this prof has %s v%d", ErrUnknownQuery, name, q.Name, q.Version)
		}
		names = append(names, q.Name)
	}
	hint := suggest.DidYouMean(want, names)
	if len(suggest.Nearest(want, names)) == 0 {
		hint = "; `prof query` lists them"
	}
	return Query{}, fmt.Errorf("%w: %q%s", ErrUnknownQuery, name, hint)
}

// named returns a query of a list by its name.
func named(list []Query, name string) (Query, bool) {
	for _, q := range list {
		if q.Name == name {
			return q, true
		}
	}
	return Query{}, false
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
